//! [`NodeInfo`]: a node checked against the declaration of its op.

use super::def::{ArgSpec, AttrKind, AttrSpec, Count, OpDef, TypeSpec};
use crate::attr::{Attr, Attrs, ValueType};
use millstream_tensor::{DType, Error, Result, ensure, invalid};
use smallvec::SmallVec;
use std::fmt;
use std::ops::Range;

/// The fixed part of a node: its name, op, attributes and types. Kernels and shape rules read it.
#[derive(Clone)]
pub struct NodeInfo {
    /// The node's name.
    pub name: String,
    /// Its op type.
    pub op: &'static OpDef,
    /// All declared attributes, defaults included, and any others that it came with.
    pub attrs: Attrs,
    /// The types that the op expects of its inputs.
    pub input_types: SmallVec<[ValueType; 3]>,
    /// The types of its outputs.
    pub output_types: SmallVec<[ValueType; 2]>,
}

impl fmt::Debug for NodeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.op.name, self.name)
    }
}

impl NodeInfo {
    /// Checks inputs and attributes against the declaration, infers the attributes that follow from the
    /// inputs, and fills in defaults.
    pub fn resolve(
        op: &'static OpDef,
        name: impl Into<String>,
        inputs: &[ValueType],
        mut attrs: Attrs,
    ) -> Result<NodeInfo> {
        let layout = input_layout(op, inputs, &mut attrs)?;
        for (arg, range) in op.inputs.iter().zip(layout) {
            check_input(op, arg, range, inputs, &mut attrs)?;
        }
        // What is given comes first: a list without tensors is too short, rather than without a type.
        for (attr, spec) in &op.attrs {
            if let Some(value) = attrs.get(attr) {
                check_attr(op, attr, spec, value)?;
            }
        }
        for (attr, spec) in &op.attrs {
            if attrs.get(attr).is_none() {
                let default = spec.default.clone();
                attrs.set(*attr, default.ok_or_else(|| missing(op, attr, spec))?);
            }
        }
        let n_outputs = n_outputs(op, &attrs)?;
        ensure!(
            n_outputs <= MAX_OUTPUTS,
            "{} would have {n_outputs} outputs: a node has at most {MAX_OUTPUTS}",
            op.name
        );
        let mut output_types = SmallVec::with_capacity(n_outputs);
        for arg in &op.outputs {
            push_types(&mut output_types, arg, &attrs)?;
        }
        let mut input_types = SmallVec::new();
        for arg in &op.inputs {
            push_types(&mut input_types, arg, &attrs)?;
        }
        Ok(NodeInfo { name: name.into(), op, attrs, input_types, output_types })
    }

    /// The inputs that hold indices, axes, sizes or segments, one bit for each of the first 64: integers of a
    /// fixed dtype, or of a type attribute that only such arguments have. Kernels copy them, as i64 and as
    /// offsets, and [`room_for`](millstream_tensor::budget::room_for) charges for that.
    pub fn index_inputs(&self) -> u64 {
        let mut bits = 0;
        for arg in self.op.inputs.iter().filter(|arg| holds_indices(self.op, arg)) {
            let range = range_of(&self.op.inputs, arg.name, &self.attrs).unwrap_or_default();
            bits |= range.filter(|i| *i < 64).fold(0, |bits, i| bits | 1u64 << i);
        }
        bits
    }

    /// The positions of the tensors that belong to an input argument.
    pub fn input_range(&self, arg: &str) -> Result<Range<usize>> {
        range_of(&self.op.inputs, arg, &self.attrs)
    }

    /// The positions of the tensors that belong to an output argument.
    pub fn output_range(&self, arg: &str) -> Result<Range<usize>> {
        range_of(&self.op.outputs, arg, &self.attrs)
    }
}

/// Whether an argument holds indices and no data: its dtype is always i32 or i64, or one of few integers.
fn holds_indices(op: &OpDef, arg: &ArgSpec) -> bool {
    use DType::{I8, I16, I32, I64, U8, U16};
    if arg.is_ref || matches!(arg.count, Count::List(_)) {
        return false;
    }
    match arg.ty {
        TypeSpec::Fixed(dtype) => matches!(dtype, I32 | I64),
        TypeSpec::Attr(name) => {
            let mut kinds = op.attrs.iter().filter(|(attr, _)| *attr == name).map(|(_, spec)| spec.kind);
            let narrow = |dtype: &DType| matches!(dtype, I8 | I16 | I32 | I64 | U8 | U16);
            matches!(kinds.next(), Some(AttrKind::Type(allowed))
                if allowed.iter().any(|d| matches!(d, I32 | I64)) && allowed.iter().all(narrow))
        }
    }
}

fn range_of(args: &[ArgSpec], name: &str, attrs: &Attrs) -> Result<Range<usize>> {
    let mut start = 0;
    for arg in args {
        let count = count_of(arg, attrs)?;
        if arg.name == name {
            return Ok(start..start + count);
        }
        start += count;
    }
    Err(Error::internal(format!("no argument is named `{name}`")))
}

/// The largest number of tensors in one argument.
const MAX_ARITY: i64 = 1 << 24;

/// The most outputs of a node. Inputs are there before a node is made, but outputs cost nothing to claim: one
/// attribute says how many there are, and each takes hundreds of bytes in graph, program, plan and step.
const MAX_OUTPUTS: usize = 1 << 16;

/// The number of outputs that a node of this op has by its attributes.
pub fn n_outputs(op: &OpDef, attrs: &Attrs) -> Result<usize> {
    op.outputs.iter().try_fold(0usize, |n, arg| Ok(n.saturating_add(count_of(arg, attrs)?)))
}

fn count_of(arg: &ArgSpec, attrs: &Attrs) -> Result<usize> {
    Ok(match arg.count {
        Count::One => 1,
        Count::Number(number) => {
            let n = attrs.int(number)?;
            ensure!((0..=MAX_ARITY).contains(&n), "attribute `{number}` is {n}, not a number of tensors");
            n as usize
        }
        Count::List(types) => attrs.dtypes(types)?.len(),
    })
}

fn push_types<const N: usize>(
    types: &mut SmallVec<[ValueType; N]>,
    arg: &ArgSpec,
    attrs: &Attrs,
) -> Result<()>
where
    [ValueType; N]: smallvec::Array<Item = ValueType>,
{
    if let Count::List(list) = arg.count {
        types.extend(attrs.dtypes(list)?.into_iter().map(ValueType::from));
        return Ok(());
    }
    let dtype = match arg.ty {
        TypeSpec::Fixed(dtype) => dtype,
        TypeSpec::Attr(attr) => attrs.dtype(attr)?,
    };
    for _ in 0..count_of(arg, attrs)? {
        types.push(ValueType { dtype, is_ref: arg.is_ref });
    }
    Ok(())
}

/// The range of inputs that belongs to each argument. A count that is not given follows from the number of
/// inputs.
fn input_layout(op: &OpDef, inputs: &[ValueType], attrs: &mut Attrs) -> Result<Vec<Range<usize>>> {
    let mut fixed = 0usize;
    let mut open: Option<(Count, usize)> = None;
    for arg in &op.inputs {
        match arg.count {
            Count::One => fixed += 1,
            Count::Number(n) if attrs.get(n).is_some() => fixed += count_of(arg, attrs)?,
            Count::List(l) if attrs.get(l).is_some() => fixed += count_of(arg, attrs)?,
            count => match &mut open {
                None => open = Some((count, 1)),
                Some((c, times)) if *c == count => *times += 1,
                Some(_) => {
                    return Err(invalid!("{}: the number of inputs in each list must be given", op.name));
                }
            },
        }
    }
    let each = match open {
        None => {
            ensure!(inputs.len() == fixed, "{} takes {}, got {}", op.name, tensors(fixed), inputs.len());
            0
        }
        Some((_, times)) => {
            let rest = inputs.len().checked_sub(fixed).filter(|r| r % times == 0).ok_or_else(|| {
                invalid!(
                    "{} takes {fixed} inputs and {times} lists of equal length, got {}",
                    op.name,
                    inputs.len()
                )
            })?;
            rest / times
        }
    };
    let mut ranges = Vec::with_capacity(op.inputs.len());
    let mut start = 0;
    for arg in &op.inputs {
        let count = match arg.count {
            Count::One => 1,
            Count::Number(n) => {
                if attrs.get(n).is_none() {
                    attrs.set(n, each);
                }
                count_of(arg, attrs)?
            }
            Count::List(l) => {
                if attrs.get(l).is_none() {
                    let types: Vec<_> = inputs[start..start + each].iter().map(|t| t.dtype).collect();
                    attrs.set(l, types);
                }
                count_of(arg, attrs)?
            }
        };
        ranges.push(start..start + count);
        start += count;
    }
    Ok(ranges)
}

fn tensors(n: usize) -> String {
    match n {
        0 => "no inputs".into(),
        1 => "1 input".into(),
        n => format!("{n} inputs"),
    }
}

fn check_input(
    op: &OpDef,
    arg: &ArgSpec,
    range: Range<usize>,
    inputs: &[ValueType],
    attrs: &mut Attrs,
) -> Result<()> {
    let given = inputs.get(range).ok_or_else(|| {
        invalid!("{} has too few inputs for its argument `{}`: {} given", op.name, arg.name, inputs.len())
    })?;
    if let Count::List(list) = arg.count {
        for (i, (given, wanted)) in given.iter().zip(attrs.dtypes(list)?).enumerate() {
            ensure!(
                given.dtype == wanted,
                "{}: entry {i} of `{}` is {}, but attribute `{list}` has {wanted}",
                op.name,
                arg.name,
                given.dtype
            );
        }
        return Ok(());
    }
    for given in given {
        let wanted = match arg.ty {
            TypeSpec::Fixed(dtype) => dtype,
            TypeSpec::Attr(attr) => match attrs.get(attr) {
                Some(_) => attrs.dtype(attr)?,
                None => {
                    attrs.set(attr, given.dtype);
                    given.dtype
                }
            },
        };
        if given.dtype != wanted {
            return Err(type_mismatch(op, arg, given.dtype, wanted));
        }
        ensure!(
            given.is_ref || !arg.is_ref,
            "{}: `{}` must be a reference to a variable, got a value of {}",
            op.name,
            arg.name,
            given.dtype
        );
    }
    Ok(())
}

fn type_mismatch(op: &OpDef, arg: &ArgSpec, given: DType, wanted: DType) -> Error {
    let why = match arg.ty {
        TypeSpec::Fixed(_) => String::new(),
        TypeSpec::Attr(attr) => {
            let others: Vec<_> = op
                .inputs
                .iter()
                .filter(|a| a.ty == arg.ty && a.name != arg.name)
                .map(|a| format!("`{}`", a.name))
                .collect();
            match others.is_empty() {
                true => format!(" (attribute `{attr}`)"),
                false => format!(" as {} is (attribute `{attr}`)", others.join(" and ")),
            }
        }
    };
    invalid!("{}: `{}` is {given} but must be {wanted}{why}", op.name, arg.name)
        .with_help("convert one of them with `cast`")
}

fn missing(op: &OpDef, attr: &str, spec: &AttrSpec) -> Error {
    invalid!("{} needs the attribute `{attr}` ({:?})", op.name, spec.kind)
        .led_by(format!("NodeDef missing attr '{attr}' from Op<name={}>", op.name))
        .with_help(format!("set `{attr}`: it has no default, and the inputs do not tell it"))
}

/// TensorFlow's message for a number below its minimum. TensorFlow calls the number of an argument's tensors
/// a list's length.
fn below(op: &OpDef, name: &str, value: i64, least: i64) -> String {
    match op.inputs.iter().find(|a| matches!(a.count, Count::Number(n) if n == name)) {
        Some(list) => format!(
            "List argument '{}' to '{}' Op with length {value} shorter than minimum length {least}.",
            list.name, op.name
        ),
        None => format!("Attr '{name}' of '{}' Op passed {value} less than minimum {least}.", op.name),
    }
}

/// Checks that an attribute's value fits its declaration.
pub(crate) fn check_attr(op: &OpDef, name: &str, spec: &AttrSpec, value: &Attr) -> Result<()> {
    let list_of = |ok: fn(&Attr) -> bool| matches!(value, Attr::List(v) if v.iter().all(ok));
    let in_rank = |attr: &Attr| if let Attr::Shape(shape) = attr { shape.check_rank() } else { Ok(()) };
    match value {
        Attr::List(shapes) => shapes.iter().try_for_each(in_rank)?,
        one => in_rank(one)?,
    }
    let fits = match (spec.kind, value) {
        (AttrKind::Type(allowed), Attr::Type(t)) => {
            ensure!(
                allowed.is_empty() || allowed.contains(&t.dtype),
                "Value for attr '{name}' of {} is not in the list of allowed values: {}",
                t.dtype.tf_name(),
                allowed.iter().map(|d| d.tf_name()).collect::<Vec<_>>().join(", ");
                "{} does not work on {}: attribute `{name}` may be {}",
                op.name,
                t.dtype,
                allowed.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ")
            );
            true
        }
        (AttrKind::Int(least), Attr::Int(v)) => {
            if *v < least {
                let error = invalid!("{}: attribute `{name}` is {v} but must be at least {least}", op.name);
                return Err(error.led_by(below(op, name, *v, least)));
            }
            true
        }
        (AttrKind::Str(allowed), Attr::Str(v)) => {
            ensure!(
                allowed.is_empty() || allowed.iter().any(|a| a.as_bytes() == &**v),
                "Attr '{name}' of '{}' Op passed string '{}' not in: \"{}\".",
                op.name,
                String::from_utf8_lossy(v),
                allowed.join("\", \"");
                "{}: attribute `{name}` is {v:?} but must be one of {}",
                op.name,
                allowed.join(", ")
            );
            true
        }
        (AttrKind::Float, Attr::Float(_))
        | (AttrKind::Bool, Attr::Bool(_))
        | (AttrKind::Shape, Attr::Shape(_))
        | (AttrKind::Tensor, Attr::Tensor(_))
        | (AttrKind::Func, Attr::Func(_)) => true,
        (AttrKind::TypeList(least), _) => {
            if let Attr::List(list) = value {
                ensure!(
                    list.len() >= least,
                    "Attr '{name}' of '{}' Op passed list of length {} less than minimum {least}.",
                    op.name,
                    list.len();
                    "{}: attribute `{name}` has {} dtypes but must have at least {least}",
                    op.name,
                    list.len()
                );
            }
            list_of(|a| matches!(a, Attr::Type(_)))
        }
        (AttrKind::IntList, _) => list_of(|a| matches!(a, Attr::Int(_))),
        (AttrKind::FloatList, _) => list_of(|a| matches!(a, Attr::Float(_))),
        (AttrKind::StrList, _) => list_of(|a| matches!(a, Attr::Str(_))),
        (AttrKind::ShapeList, _) => list_of(|a| matches!(a, Attr::Shape(_))),
        (AttrKind::FuncList, _) => list_of(|a| matches!(a, Attr::Func(_))),
        _ => false,
    };
    ensure!(fits, "{}: attribute `{name}` is {}, not {:?}", op.name, value.kind(), spec.kind);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::spec::{AnyType, IndexType, IntType, OneOf, Spec, TypeList};
    use DType::{F32, I16, I32, I64, U8, U32};

    /// Which inputs hold indices is asked of the declaration, so that no op has to say so.
    #[test]
    fn the_inputs_that_hold_indices_follow_from_the_declaration() {
        let op: &'static OpDef = Box::leak(Box::new(
            OpDef::new("Test")
                .input("data", "T")
                .input("indices", "Tidx")
                .input("sizes", I32)
                .input("bits", "B")
                .input("few", "F")
                .input("mixed", "M")
                .input_list("values", "L")
                .attr("T", AnyType)
                .attr("Tidx", IndexType.or(I32))
                .attr("B", IntType)
                .attr("F", OneOf(&[U8, I16, I32, I64]))
                .attr("M", OneOf(&[I32, F32]))
                .attr("L", TypeList),
        ));
        // Data of an integer dtype are not indices, nor are lists whose types vary.
        let types = [I32, I64, I32, U32, I16, I32, I64].map(ValueType::from);
        let node = NodeInfo::resolve(op, "n", &types, Attrs::new()).unwrap();
        assert_eq!(node.index_inputs(), 0b001_0110);
    }
}
