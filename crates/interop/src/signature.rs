//! [`check`]: checks that a node of a message has the attributes and inputs that its op declares, with
//! TensorFlow's error messages.

use crate::definitions::{kind_name, op_def};
use crate::flat::short;
use millstream_graph::op::{AttrKind, AttrSpec, Count, OpDef, TypeSpec};
use millstream_graph::{Attr, Attrs, Graph, Port};
use millstream_proto::attr_value::Value;
use millstream_proto::op_def::ArgDef;
use millstream_proto::{AttrValue, DataType};
use millstream_tensor::{DType, Error, Result, ensure, invalid};
use std::fmt::Write;

/// Checks that all attributes without defaults are present, and that the number and dtypes of the inputs
/// agree with them. An input is `None` if it is a back edge. `prefix` is the import's, with its `/`.
pub(crate) fn check(
    graph: &Graph,
    (name, prefix): (&str, &str),
    def: &OpDef,
    attrs: &Attrs,
    inputs: &[Option<Port>],
) -> Result<()> {
    let whole = format!("{prefix}{name}");
    let lacks = |(attr, spec): &&(&str, AttrSpec)| spec.default.is_none() && attrs.get(attr).is_none();
    let missing: Vec<_> = def.attrs.iter().filter(lacks).collect();
    if !missing.is_empty() {
        let quoted: Vec<_> = missing.iter().map(|(attr, _)| format!("'{attr}'")).collect();
        let each = missing.iter().map(|(attr, spec)| format!("`{attr}` (a {})", kind_name(spec.kind)));
        let s = if missing.len() == 1 { "" } else { "s" };
        return Err(invalid!(
            "NodeDef missing attr{s} {} from {}",
            quoted.join(", "),
            place(def, &whole);
            "{} needs the attribute{s} {}",
            def.name,
            each.collect::<Vec<_>>().join(" and ")
        )
        .with_help("a message holds all attributes without defaults, also those that inputs imply"));
    }
    let types = inputs.iter().map(|port| port.map(|p| type_of(graph, (name, prefix), p)).transpose());
    let given = types.collect::<Result<Vec<_>>>()?;
    let Some(wanted) = declared(def, attrs) else { return Ok(()) };
    ensure!(
        wanted.len() == given.len(),
        "NodeDef expected inputs '{}' do not match {} inputs specified; {}",
        wanted.iter().map(|d| d.kernel_name()).collect::<Vec<_>>().join(", "),
        given.len(),
        place(def, &whole);
        "{} takes {} input{}, got {}",
        def.name,
        wanted.len(),
        if wanted.len() == 1 { "" } else { "s" },
        given.len()
    );
    for (i, (wanted, given)) in wanted.iter().zip(&given).enumerate() {
        if let (Some(given), Some(port)) = (given, inputs[i])
            && given != wanted
        {
            return Err(mismatch(graph, &whole, i, port, *given, *wanted));
        }
    }
    Ok(())
}

/// Checks that a list of dtypes is as long as its declaration asks.
pub(crate) fn check_length(
    (name, prefix): (&str, &str),
    def: &OpDef,
    attr: &str,
    kind: AttrKind,
    value: &Attr,
) -> Result<()> {
    if let (AttrKind::TypeList(least), Attr::List(list)) = (kind, value) {
        ensure!(
            list.len() >= least,
            "Length for attr '{attr}' of {} must be at least minimum {least}\n\t; NodeDef: {{{{node {prefix}{}}}}}; {}",
            list.len(),
            short(name),
            summary(def);
            "{}: attribute `{attr}` has {} dtypes but must have at least {least}",
            def.name,
            list.len()
        );
    }
    Ok(())
}

/// Returns the dtypes of the inputs, as far as the attributes determine them.
fn declared(def: &OpDef, attrs: &Attrs) -> Option<Vec<DType>> {
    let mut types = Vec::new();
    for arg in &def.inputs {
        let dtype = || match arg.ty {
            TypeSpec::Fixed(dtype) => Some(dtype),
            TypeSpec::Attr(attr) => attrs.dtype(attr).ok(),
        };
        match arg.count {
            Count::One => types.push(dtype()?),
            Count::Number(n) => {
                let n = usize::try_from(attrs.int(n).ok()?).ok().filter(|n| *n <= MOST)?;
                types.extend(std::iter::repeat_n(dtype()?, n));
            }
            Count::List(list) => types.extend(attrs.dtypes(list).ok()?),
        }
    }
    Some(types)
}

/// The maximum number of inputs that are listed, whatever number the message claims.
const MOST: usize = 1 << 16;

fn type_of(graph: &Graph, (name, prefix): (&str, &str), port: Port) -> Result<DType> {
    graph.read(|g| {
        let node = g.node(port.node)?;
        let outputs = &node.info.output_types;
        outputs.get(port.index as usize).map(|ty| ty.dtype).ok_or_else(|| {
            invalid!(
                "Node '{}': Connecting to invalid output {} of source node {} which has {} outputs.",
                short(name),
                port.index,
                short(node.name().strip_prefix(prefix).unwrap_or(node.name())),
                outputs.len();
                "node `{}` has {} outputs, not {}",
                short(node.name()),
                outputs.len(),
                u64::from(port.index) + 1
            )
        })
    })
}

fn mismatch(graph: &Graph, name: &str, i: usize, port: Port, given: DType, wanted: DType) -> Error {
    let source = graph.read(|g| g.node(port.node).map(|n| short(n.name()).to_string()).unwrap_or_default());
    invalid!(
        "Input {i} of node {} was passed {} from {source}:{} incompatible with expected {}.",
        short(name),
        given.kernel_name(),
        port.index,
        wanted.kernel_name();
        "input {i} is `{source}:{}`, which is {given}, and must be {wanted}",
        port.index
    )
    .with_help("convert it with `cast`, or map another value to it")
}

/// Describes the node and its op.
fn place(def: &OpDef, name: &str) -> String {
    format!("{}; NodeDef: {{{{node {}}}}}", summary(def), short(name))
}

/// Returns an op as TensorFlow prints it: `Op<name=Identity; signature=input:T -> output:T; attr=T:type>`.
fn summary(def: &OpDef) -> String {
    let Ok(message) = op_def(def) else { return format!("Op<name={}>", def.name) };
    let args = |args: &[ArgDef]| args.iter().map(argument).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "Op<name={}; signature={} -> {}",
        message.name,
        args(&message.input_arg),
        args(&message.output_arg)
    );
    for attr in &message.attr {
        let _ = write!(text, "; attr={}:{}", attr.name, attr.r#type);
        if let Some(default) = &attr.default_value {
            let _ = write!(text, ",default={}", value(default));
        }
        if attr.has_minimum {
            let _ = write!(text, ",min={}", attr.minimum);
        }
        if let Some(allowed) = &attr.allowed_values {
            let _ = write!(text, ",allowed={}", value(allowed));
        }
    }
    if message.is_stateful {
        text += "; is_stateful=true";
    }
    text + ">"
}

fn argument(arg: &ArgDef) -> String {
    let dtype = match (arg.type_list_attr.as_str(), arg.type_attr.as_str()) {
        ("", "") => DType::from_number(arg.r#type).map_or("?", DType::kernel_name),
        ("", attr) | (attr, _) => attr,
    };
    let dtype = match arg.number_attr.as_str() {
        "" => dtype.to_owned(),
        n => format!("{n}*{dtype}"),
    };
    match arg.is_ref {
        true => format!("{}:Ref({dtype})", arg.name),
        false => format!("{}:{dtype}", arg.name),
    }
}

fn value(attr: &AttrValue) -> String {
    let dtype = |number: i32| DataType::try_from(number).map_or("DT_INVALID", |d| d.as_str_name());
    let shape = |s: &millstream_proto::TensorShapeProto| match s.unknown_rank {
        true => "<unknown>".to_owned(),
        false => {
            let dims = s.dim.iter().map(|d| if d.size < 0 { "?".to_owned() } else { d.size.to_string() });
            format!("[{}]", dims.collect::<Vec<_>>().join(","))
        }
    };
    let text = |s: &[u8]| format!("\"{}\"", s.escape_ascii());
    match &attr.value {
        Some(Value::S(s)) => text(s),
        Some(Value::I(i)) => i.to_string(),
        Some(Value::F(f)) => f.to_string(),
        Some(Value::B(b)) => b.to_string(),
        Some(Value::Type(t)) => dtype(*t).to_owned(),
        Some(Value::Shape(s)) => shape(s),
        Some(Value::List(list)) => {
            let mut items: Vec<String> = list.s.iter().map(|s| text(s)).collect();
            items.extend(list.i.iter().map(i64::to_string));
            items.extend(list.f.iter().map(f32::to_string));
            items.extend(list.b.iter().map(bool::to_string));
            items.extend(list.r#type.iter().map(|t| dtype(*t).to_owned()));
            items.extend(list.shape.iter().map(shape));
            format!("[{}]", items.join(", "))
        }
        Some(Value::Tensor(_)) => "<tensor>".to_owned(),
        _ => String::new(),
    }
}

/// Returns TensorFlow's name for the kind of an attribute's value.
pub(crate) fn kind_of(attr: &AttrValue) -> &'static str {
    match &attr.value {
        Some(Value::S(_)) => "string",
        Some(Value::I(_)) => "int",
        Some(Value::F(_)) => "float",
        Some(Value::B(_)) => "bool",
        Some(Value::Type(_)) => "type",
        Some(Value::Shape(_)) => "shape",
        Some(Value::Tensor(_)) => "tensor",
        Some(Value::Func(_)) => "func",
        Some(Value::List(_)) => "list",
        _ => "",
    }
}
