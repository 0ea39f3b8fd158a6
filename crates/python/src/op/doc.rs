//! Docstrings of op types: arguments with their dtypes, results, errors, and a runnable example. All of it
//! comes from the op's declaration; the example is the first of its cases that can be written in Python.

use super::{OpType, Parameter, Target};
use crate::array;
use crate::attr::to_python;
use millstream::engine::graph::Attr;
use millstream::engine::graph::op::{AttrKind, Count, Gradient, OpDef, TypeSpec};
use millstream_ops::cases::{Arg, Case, Expect};
use pyo3::prelude::*;
use std::fmt::Write as _;

/// Maximum length of an example in characters.
const LONGEST: usize = 160;

/// The docstring of an op's function.
pub fn of(py: Python<'_>, op: &OpType) -> PyResult<String> {
    let mut text = format!("{}\n\nArgs:\n", op.def.doc);
    for p in &op.parameters {
        let default = match &p.default {
            Some(d) => format!(" Defaults to `{}`.", d.bind(py).repr()?),
            None => String::new(),
        };
        let _ = writeln!(text, "  {}: {}{default}", p.name, argument(op.def, p));
    }
    text += "  name: A name for the operation (optional).\n\nReturns:\n";
    text += &results(op.def);
    text += "\nRaises:\n";
    text += &raises(op.def);
    if let Some(example) = example(py, op) {
        let _ = write!(text, "\nExample:\n{example}");
    }
    let gradient = match op.def.gradient {
        Some(Gradient::None(why)) => format!(" Gradients do not flow through it: {why}."),
        Some(Gradient::Missing(why)) => format!(" It has no gradient here: {why}."),
        Some(_) => " It is differentiable.".into(),
        None => String::new(),
    };
    let _ = write!(text, "\nMakes a node of the op `{}` (`tf.raw_ops.{0}`).{gradient}\n", op.def.name);
    Ok(text)
}

fn argument(def: &OpDef, p: &Parameter) -> String {
    match p.target {
        Target::Input(k) => {
            let arg = &def.inputs[k];
            let ty = match arg.ty {
                TypeSpec::Fixed(dtype) => dtype.tf_name().to_owned(),
                TypeSpec::Attr(attr) => allowed(def, attr),
            };
            match arg.count {
                Count::One if arg.is_ref => format!("A mutable `Tensor` of {ty}."),
                Count::One => format!("A `Tensor` of {ty}."),
                _ => format!("A list of `Tensor`s of {ty}."),
            }
        }
        Target::Attr(_, kind) => match kind {
            AttrKind::Type(dtypes) if !dtypes.is_empty() => {
                format!("A `tf.DType`, one of {}.", names(dtypes))
            }
            AttrKind::Type(_) => "A `tf.DType`.".into(),
            AttrKind::Int(i64::MIN) => "An `int`.".into(),
            AttrKind::Int(least) => format!("An `int` that is at least {least}."),
            AttrKind::Float => "A `float`.".into(),
            AttrKind::Bool => "A `bool`.".into(),
            AttrKind::Str([]) => "A `string`.".into(),
            AttrKind::Str(words) => format!("A `string`, one of {}.", words.join(", ")),
            AttrKind::Shape => "A `tf.TensorShape` or list of `ints`.".into(),
            AttrKind::Tensor => "A value.".into(),
            AttrKind::Func => "A function.".into(),
            AttrKind::TypeList(_) => "A list of `tf.DType`s.".into(),
            AttrKind::IntList => "A list of `ints`.".into(),
            AttrKind::FloatList => "A list of `floats`.".into(),
            AttrKind::StrList => "A list of `strings`.".into(),
            AttrKind::ShapeList => "A list of shapes.".into(),
            AttrKind::FuncList => "A list of functions.".into(),
        },
    }
}

fn names(dtypes: &[millstream::DType]) -> String {
    dtypes.iter().map(|d| d.tf_name()).collect::<Vec<_>>().join(", ")
}

fn allowed(def: &OpDef, attr: &str) -> String {
    match def.attr_spec(attr).map(|s| s.kind) {
        Some(AttrKind::Type(dtypes)) if !dtypes.is_empty() => names(dtypes),
        _ => "any dtype".into(),
    }
}

fn results(def: &OpDef) -> String {
    let one = |arg: &millstream::engine::graph::op::ArgSpec| {
        let ty = match arg.ty {
            TypeSpec::Fixed(dtype) => format!(" of {}", dtype.tf_name()),
            TypeSpec::Attr(attr) => {
                match def.inputs.iter().find(|i| matches!(i.ty, TypeSpec::Attr(a) if a == attr)) {
                    Some(input) if arg.count == Count::One => format!(" of the dtype of `{}`", input.name),
                    _ => String::new(),
                }
            }
        };
        match arg.count {
            Count::One if arg.is_ref => format!("A mutable `Tensor`{ty}"),
            Count::One => format!("A `Tensor`{ty}"),
            _ => format!("A list of `Tensor`s{ty}"),
        }
    };
    match def.outputs.as_slice() {
        [] => "  The created Operation.\n".to_owned(),
        [only] => format!("  {}.\n", one(only)),
        all => {
            let mut text =
                format!("  A named tuple ({}):\n", all.iter().map(|a| a.name).collect::<Vec<_>>().join(", "));
            for arg in all {
                let _ = writeln!(text, "  {}: {}.", arg.name, one(arg));
            }
            text
        }
    }
}

/// The errors, with up to two examples from the op's declaration.
fn raises(def: &OpDef) -> String {
    let mut text = String::new();
    if !def.inputs.is_empty() {
        text += "  TypeError: An argument of a dtype that is not listed, or that does not match another argument's.\n";
    }
    text += "  ValueError: What can be told while the graph is built, such as shapes that do not fit; what only a run can tell is\n    a `tf.errors.OpError`, mostly `InvalidArgumentError`.\n";
    let errors = def.cases.iter().filter_map(|(_, case)| case.split_once(") ! "));
    for (call, message) in errors.filter(|(call, _)| call.len() < LONGEST && !call.contains('\n')).take(2) {
        let _ = writeln!(text, "    `{})`: {}", call.trim(), message.trim());
    }
    text
}

/// The first case that can be written in Python, as an input line and its output.
fn example(py: Python<'_>, op: &OpType) -> Option<String> {
    let cases = op.def.cases.iter().filter(|(_, text)| text.len() < LONGEST);
    cases
        .filter_map(|(_, text)| Case::parse(text).ok())
        .find_map(|case| written(py, op, &case).ok().flatten())
}

fn written(py: Python<'_>, op: &OpType, case: &Case) -> PyResult<Option<String>> {
    let (values, near) = match &case.expect {
        Expect::Values(values) => (values, false),
        Expect::Near(values) => (values, true),
        _ => return Ok(None),
    };
    let outputs = op.def.outputs.as_slice();
    let one = matches!(outputs, [out] if out.count == Count::One);
    // Results are one value, or a list of arrays; string scalars are not arrays.
    let text = |v: &millstream::Tensor| v.dtype() == millstream::DType::Str && v.shape().dims().is_empty();
    let simple = one
        || !values.iter().any(text) && (outputs.len() == 1 || outputs.iter().all(|o| o.count == Count::One));
    if case.call.op != op.def.name
        || !case.before.is_empty()
        || values.is_empty()
        || outputs.is_empty()
        || !simple
    {
        return Ok(None);
    }
    let mut words = Vec::new();
    for p in &op.parameters {
        let value = match p.target {
            Target::Input(k) => match input(py, op.def, &case.call.args, k)? {
                Some(text) => text,
                None => return Ok(None),
            },
            Target::Attr(attr, _) => match case.call.attrs.get(attr) {
                None => continue,
                Some(value) => match attribute(py, value)? {
                    Some(text) => text,
                    None => return Ok(None),
                },
            },
        };
        words.push(format!("{}={value}", p.name));
    }
    // Attributes without a parameter cannot be passed.
    let given =
        |name: &str| op.parameters.iter().any(|p| matches!(p.target, Target::Attr(a, _) if a == name));
    if case.call.attrs.iter().any(|(name, _)| !given(name)) {
        return Ok(None);
    }
    let place = op.module.strip_prefix("millstream").unwrap_or_default();
    let mut run = format!("tf.Session().run(tf{place}.{}({}))", op.name, words.join(", "));
    let mut shown = Vec::new();
    for value in values {
        let array = array::to_python(py, value.clone())?;
        let array = if near { py.import("numpy")?.call_method1("round", (array, 3))? } else { array };
        // String scalars are not arrays.
        let list = if array.hasattr("tolist")? { array.call_method0("tolist")? } else { array };
        shown.push(list.repr()?.to_string());
    }
    let show = |value: &str| match near {
        true => format!("numpy.round({value}, 3).tolist()"),
        false if text(&values[0]) => value.to_owned(),
        false => format!("{value}.tolist()"),
    };
    let result = if one {
        run = show(&run);
        shown.remove(0)
    } else {
        run = format!("[{} for v in {run}]", show("v"));
        format!("[{}]", shown.join(", "))
    };
    Ok(Some(format!("  >>> {run}\n  {result}\n")).filter(|t| t.len() < 3 * LONGEST))
}

/// The argument for input `k`: a value, or a list of values for a list input.
fn input(py: Python<'_>, def: &OpDef, args: &[Arg], k: usize) -> PyResult<Option<String>> {
    let lists = def.inputs.iter().filter(|a| a.count != Count::One).count();
    if 1 < lists || def.inputs.iter().any(|a| a.is_ref) {
        return Ok(None);
    }
    let list_at = def.inputs.iter().position(|a| a.count != Count::One).unwrap_or(def.inputs.len());
    let Some(spare) = (args.len() + lists).checked_sub(def.inputs.len()) else { return Ok(None) };
    let value = |arg: &Arg| match arg {
        Arg::Value(value) => literal(py, value).map(Some),
        _ => Ok(None),
    };
    if k != list_at {
        let at = if k < list_at { k } else { k + spare - lists };
        return args.get(at).map_or(Ok(None), value);
    }
    let items: PyResult<Option<Vec<String>>> = args[k..k + spare].iter().map(value).collect();
    Ok(items?.map(|items| format!("[{}]", items.join(", "))))
}

/// A value as Python source: a plain literal if its dtype is the default of that literal.
fn literal(py: Python<'_>, value: &millstream::Tensor) -> PyResult<String> {
    use millstream::DType::*;
    let array = array::to_python(py, value.clone())?;
    let list = match array.getattr("tolist") {
        Ok(method) => method.call0()?,
        Err(_) => array,
    };
    let text = list.repr()?.to_string();
    let special = text.contains("inf") || text.contains("nan");
    Ok(match value.dtype() {
        F32 | I32 | Bool | Str if !special && value.elements() != 0 => text,
        dtype => {
            let list = text.replace("nan", "numpy.nan").replace("inf", "numpy.inf");
            format!(
                "tf.constant({list}, tf.{}{})",
                dtype.tf_name(),
                match value.elements() {
                    0 => format!(", {:?}", value.shape().dims()),
                    _ => String::new(),
                }
            )
        }
    })
}

/// An attribute as Python source; None for tensors and functions.
fn attribute(py: Python<'_>, value: &Attr) -> PyResult<Option<String>> {
    Ok(match value {
        Attr::Type(ty) => Some(format!("tf.{}", ty.dtype.tf_name())),
        Attr::Tensor(_) | Attr::Func(_) => None,
        Attr::Shape(shape) => Some(match shape.dims() {
            Some(dims) => {
                let dims: Vec<_> = dims.iter().map(|d| d.map_or("None".into(), |d| d.to_string())).collect();
                format!("[{}]", dims.join(", "))
            }
            None => "None".into(),
        }),
        other => Some(to_python(py, other)?.repr()?.to_string()).filter(|t| !t.contains('<')),
    })
}
