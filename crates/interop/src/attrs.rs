//! Attributes, converted to and from `AttrValue`.

use crate::allowance::Allowance;
use crate::types;
use millstream_checkpoint::message;
use millstream_graph::op::AttrKind;
use millstream_graph::{Attr, Attrs, FuncRef};
use millstream_proto::attr_value::{ListValue, Value};
use millstream_proto::{AttrValue, MAX_DEPTH, NameAttrList};
use millstream_tensor::{Result, Str, ensure, invalid};
use std::collections::BTreeMap;

/// Returns the value of a message.
pub(crate) fn decode(message: &AttrValue, allowance: &mut Allowance) -> Result<Attr> {
    decode_at(message, allowance, 0)
}

// Messages read from bytes nest at most MAX_DEPTH deep. The same limit applies to messages made by hand.
fn decode_at(message: &AttrValue, allowance: &mut Allowance, depth: usize) -> Result<Attr> {
    ensure!(depth <= MAX_DEPTH, "attributes are nested more than {MAX_DEPTH} deep");
    let value = message.value.as_ref().ok_or_else(|| invalid!("the attribute has no value"))?;
    Ok(match value {
        Value::S(v) => {
            allowance.take(v.len(), 1)?;
            Attr::Str(v.as_slice().into())
        }
        Value::I(v) => Attr::Int(*v),
        Value::F(v) => Attr::Float(*v),
        Value::B(v) => Attr::Bool(*v),
        Value::Type(v) => Attr::Type(types::value_type(*v)?),
        Value::Shape(v) => Attr::Shape(message::partial_shape(v)?),
        Value::Tensor(v) => Attr::Tensor(message::decode(v, &mut |n, size| allowance.take(n, size))?),
        Value::Func(v) => Attr::Func(decode_function(v, allowance, depth)?),
        Value::List(v) => Attr::List(decode_list(v, allowance, depth)?),
        Value::Placeholder(name) => {
            return Err(invalid!("the attribute is a placeholder for `{name}`, which only functions have"));
        }
    })
}

fn decode_function(message: &NameAttrList, allowance: &mut Allowance, depth: usize) -> Result<FuncRef> {
    allowance.take(message.name.len(), 1)?;
    let mut attrs = Attrs::new();
    for (name, value) in &message.attr {
        attrs.set(name.clone(), decode_at(value, allowance, depth + 1)?);
    }
    Ok(FuncRef { name: message.name.clone(), attrs })
}

fn decode_list(message: &ListValue, allowance: &mut Allowance, depth: usize) -> Result<Vec<Attr>> {
    let m = message;
    let lengths = [
        m.s.len(),
        m.i.len(),
        m.f.len(),
        m.b.len(),
        m.r#type.len(),
        m.shape.len(),
        m.tensor.len(),
        m.func.len(),
    ];
    ensure!(
        lengths.iter().filter(|n| **n > 0).count() <= 1,
        "a list attribute holds values of several kinds"
    );
    allowance.take(lengths.iter().sum(), size_of::<Attr>())?;
    allowance.take(m.s.iter().map(Vec::len).sum(), 1)?;
    let mut list = Vec::new();
    list.extend(m.s.iter().map(|v| Attr::Str(Str::from(v.as_slice()))));
    list.extend(m.i.iter().map(|v| Attr::Int(*v)));
    list.extend(m.f.iter().map(|v| Attr::Float(*v)));
    list.extend(m.b.iter().map(|v| Attr::Bool(*v)));
    for v in &m.r#type {
        list.push(Attr::Type(types::value_type(*v)?));
    }
    for v in &m.shape {
        list.push(Attr::Shape(message::partial_shape(v)?));
    }
    for v in &m.tensor {
        list.push(Attr::Tensor(message::decode(v, &mut |n, size| allowance.take(n, size))?));
    }
    for v in &m.func {
        list.push(Attr::Func(decode_function(v, allowance, depth)?));
    }
    Ok(list)
}

/// Returns whether this is the default of most attributes: zero, false, or empty.
pub(crate) fn is_zero(message: &AttrValue) -> bool {
    match &message.value {
        None => true,
        Some(Value::S(v)) => v.is_empty(),
        Some(Value::I(v)) => *v == 0,
        Some(Value::F(v)) => *v == 0.0,
        Some(Value::B(v)) => !*v,
        Some(Value::Type(v)) => *v == 0,
        Some(Value::Shape(v)) => v.unknown_rank,
        Some(Value::List(v)) => **v == ListValue::default(),
        Some(Value::Tensor(_) | Value::Func(_) | Value::Placeholder(_)) => false,
    }
}

/// Returns a value as a message. An empty list has the same message for all kinds.
pub(crate) fn encode(attr: &Attr) -> Result<AttrValue> {
    let value = match attr {
        Attr::Str(v) => Value::S(v.to_vec()),
        Attr::Int(v) => Value::I(*v),
        Attr::Float(v) => Value::F(*v),
        Attr::Bool(v) => Value::B(*v),
        Attr::Type(v) => Value::Type(types::type_number(*v)),
        Attr::Shape(v) => Value::Shape(message::encode_shape(v)),
        Attr::Tensor(v) => Value::Tensor(Box::new(message::encode_constant(v)?)),
        Attr::Func(v) => Value::Func(encode_function(v)?),
        Attr::List(values) => Value::List(Box::new(encode_list(values)?)),
    };
    Ok(AttrValue { value: Some(value) })
}

fn encode_function(function: &FuncRef) -> Result<NameAttrList> {
    let attr: Result<BTreeMap<_, _>> =
        function.attrs.iter().map(|(name, value)| Ok((name.to_owned(), encode(value)?))).collect();
    Ok(NameAttrList { name: function.name.clone(), attr: attr? })
}

fn encode_list(values: &[Attr]) -> Result<ListValue> {
    let mut m = ListValue::default();
    for value in values {
        match value {
            Attr::Str(v) => m.s.push(v.to_vec()),
            Attr::Int(v) => m.i.push(*v),
            Attr::Float(v) => m.f.push(*v),
            Attr::Bool(v) => m.b.push(*v),
            Attr::Type(v) => m.r#type.push(types::type_number(*v)),
            Attr::Shape(v) => m.shape.push(message::encode_shape(v)),
            Attr::Tensor(v) => m.tensor.push(message::encode_constant(v)?),
            Attr::Func(v) => m.func.push(encode_function(v)?),
            Attr::List(_) => return Err(invalid!("a list of lists cannot be written as an attribute")),
        }
    }
    Ok(m)
}

/// Returns whether a message can be of this kind. It is asked before decoding, since the kind decides what an
/// empty list is.
pub(crate) fn fits(message: &AttrValue, kind: AttrKind) -> bool {
    matches!(
        (&message.value, kind),
        (Some(Value::S(_)), AttrKind::Str(_))
            | (Some(Value::I(_)), AttrKind::Int(_))
            | (Some(Value::F(_)), AttrKind::Float)
            | (Some(Value::B(_)), AttrKind::Bool)
            | (Some(Value::Type(_)), AttrKind::Type(_))
            | (Some(Value::Shape(_)), AttrKind::Shape)
            | (Some(Value::Tensor(_)), AttrKind::Tensor)
            | (Some(Value::Func(_)), AttrKind::Func)
            | (
                Some(Value::List(_)),
                AttrKind::TypeList(_)
                    | AttrKind::IntList
                    | AttrKind::FloatList
                    | AttrKind::StrList
                    | AttrKind::ShapeList
                    | AttrKind::FuncList
            )
    )
}
