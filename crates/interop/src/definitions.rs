//! [`op_def`]: an op's declaration as TensorFlow's `OpDef`; and [`decode_attr`], one attribute from its
//! message.

use crate::allowance::Allowance;
use crate::export::is_newer;
use crate::{attrs, types};
use millstream_graph::Attr;
use millstream_graph::op::{ArgSpec, AttrKind, AttrSpec, Count, Effect, OpDef, TypeSpec};
use millstream_proto::attr_value::{ListValue, Value};
use millstream_proto::op_def::{ArgDef, AttrDef};
use millstream_proto::{AttrValue, OpDef as Message};
use millstream_tensor::Result;

/// Returns the attribute of a message. Its memory is limited to the size of the message, plus a hundred
/// megabytes for tensors.
pub fn decode_attr(message: &AttrValue) -> Result<Attr> {
    attrs::decode(message, &mut Allowance::new(100 << 20, 0, None))
}

/// Returns the declaration of an op as a message.
pub fn op_def(def: &OpDef) -> Result<Message> {
    let args = |args: &[ArgSpec]| args.iter().map(|arg| arg_def(def, arg)).collect();
    // TensorFlow lists attributes by name.
    // As in nodes, attributes that only newer versions know are left out.
    let known = def.attrs.iter().filter(|(name, _)| !is_newer(def.name, name));
    let mut attr = known.map(|(name, spec)| attr_def(name, spec)).collect::<Result<Vec<_>>>()?;
    attr.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(Message {
        name: def.name.to_owned(),
        input_arg: args(&def.inputs),
        output_arg: args(&def.outputs),
        attr,
        summary: def.doc.to_owned(),
        is_stateful: def.kernel.effect != Effect::Pure
            && !def.kernel.observing
            && !def.inputs.iter().any(|a| a.is_ref),
        allows_uninitialized_input: def.name == "Assign",
        ..Message::default()
    })
}

fn arg_def(def: &OpDef, arg: &ArgSpec) -> ArgDef {
    let mut message = ArgDef { name: arg.name.to_owned(), is_ref: arg.is_ref, ..ArgDef::default() };
    match arg.count {
        Count::List(attr) => message.type_list_attr = attr.to_owned(),
        Count::Number(attr) => message.number_attr = attr.to_owned(),
        Count::One => {}
    }
    match arg.ty {
        _ if matches!(arg.count, Count::List(_)) => {}
        TypeSpec::Fixed(dtype) => message.r#type = types::type_number(dtype.into()),
        // An argument whose dtype a newer attribute chooses has the default dtype in 1.15.
        TypeSpec::Attr(attr) => match def.attr_spec(attr).and_then(|s| s.default.as_ref()) {
            Some(Attr::Type(dtype)) if is_newer(def.name, attr) => {
                message.r#type = types::type_number(*dtype);
            }
            _ => message.type_attr = attr.to_owned(),
        },
    }
    message
}

fn attr_def(name: &str, spec: &AttrSpec) -> Result<AttrDef> {
    let mut message =
        AttrDef { name: name.to_owned(), r#type: kind_name(spec.kind).to_owned(), ..AttrDef::default() };
    message.default_value = spec.default.as_ref().map(attrs::encode).transpose()?;
    let allowed = |list: ListValue| Some(AttrValue { value: Some(Value::List(Box::new(list))) });
    match spec.kind {
        AttrKind::Int(least) if least != i64::MIN => (message.has_minimum, message.minimum) = (true, least),
        AttrKind::TypeList(least) if least > 0 => {
            (message.has_minimum, message.minimum) = (true, least as i64);
        }
        AttrKind::Type(dtypes) if !dtypes.is_empty() => {
            let r#type = dtypes.iter().map(|d| types::type_number((*d).into())).collect();
            message.allowed_values = allowed(ListValue { r#type, ..ListValue::default() });
        }
        AttrKind::Str(words) if !words.is_empty() => {
            let s = words.iter().map(|w| w.as_bytes().to_vec()).collect();
            message.allowed_values = allowed(ListValue { s, ..ListValue::default() });
        }
        _ => {}
    }
    Ok(message)
}

/// TensorFlow's name for a kind of attribute.
pub(crate) fn kind_name(kind: AttrKind) -> &'static str {
    match kind {
        AttrKind::Type(_) => "type",
        AttrKind::TypeList(_) => "list(type)",
        AttrKind::Int(_) => "int",
        AttrKind::Float => "float",
        AttrKind::Bool => "bool",
        AttrKind::Str(_) => "string",
        AttrKind::Shape => "shape",
        AttrKind::Tensor => "tensor",
        AttrKind::Func => "func",
        AttrKind::IntList => "list(int)",
        AttrKind::FloatList => "list(float)",
        AttrKind::StrList => "list(string)",
        AttrKind::ShapeList => "list(shape)",
        AttrKind::FuncList => "list(func)",
    }
}
