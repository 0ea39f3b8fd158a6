//! Attribute messages: constructors, getters, and substitution of the attributes of a call.

use super::AttrMap;
use crate::allowance::Allowance;
use crate::flat::short;
use millstream_proto::attr_value::{ListValue, Value};
use millstream_proto::{AttrValue, MAX_DEPTH, NameAttrList, OpDef, TensorShapeProto};
use millstream_tensor::{Result, ensure, invalid};
use std::borrow::Cow;

fn of(value: Value) -> AttrValue {
    AttrValue { value: Some(value) }
}

pub(super) fn ty(number: i32) -> AttrValue {
    of(Value::Type(number))
}

pub(super) fn types(numbers: &[i32]) -> AttrValue {
    of(Value::List(Box::new(ListValue { r#type: numbers.to_vec(), ..ListValue::default() })))
}

pub(super) fn int(value: i64) -> AttrValue {
    of(Value::I(value))
}

pub(super) fn text(value: &str) -> AttrValue {
    of(Value::S(value.as_bytes().to_vec()))
}

pub(super) fn shapes(shapes: Vec<TensorShapeProto>) -> AttrValue {
    of(Value::List(Box::new(ListValue { shape: shapes, ..ListValue::default() })))
}

pub(super) fn tensor(value: millstream_proto::TensorProto) -> AttrValue {
    of(Value::Tensor(Box::new(value)))
}

pub(super) fn get_type(attrs: &AttrMap, name: &str) -> Result<i32> {
    match attrs.get(name).and_then(|a| a.value.as_ref()) {
        Some(Value::Type(v)) => Ok(*v),
        _ => Err(invalid!("the call needs the attribute `{name}`, a type")),
    }
}

pub(super) fn get_types(attrs: &AttrMap, name: &str) -> Result<Vec<i32>> {
    match attrs.get(name).and_then(|a| a.value.as_ref()) {
        Some(Value::List(list)) => Ok(list.r#type.clone()),
        _ => Err(invalid!("the call needs the attribute `{name}`, a list of types")),
    }
}

pub(super) fn get_shapes<'m>(attrs: &'m AttrMap, name: &str) -> &'m [TensorShapeProto] {
    match attrs.get(name).and_then(|a| a.value.as_ref()) {
        Some(Value::List(list)) => &list.shape,
        _ => &[],
    }
}

pub(super) fn get_func<'m>(attrs: &'m AttrMap, name: &str) -> Result<&'m NameAttrList> {
    match attrs.get(name).and_then(|a| a.value.as_ref()) {
        Some(Value::Func(v)) => Ok(v),
        _ => Err(invalid!("the call needs the attribute `{name}`, a function")),
    }
}

pub(super) fn get_funcs<'m>(attrs: &'m AttrMap, name: &str) -> Result<&'m [NameAttrList]> {
    match attrs.get(name).and_then(|a| a.value.as_ref()) {
        Some(Value::List(list)) => Ok(&list.func),
        _ => Err(invalid!("the call needs the attribute `{name}`, a list of functions")),
    }
}

/// Returns the attributes of a node in a function's body, with placeholders replaced by the attributes of the
/// call. They are borrowed if there is nothing to replace.
pub(super) fn instantiate<'a>(
    attrs: &'a AttrMap,
    given: &AttrMap,
    signature: &OpDef,
    allowance: &mut Allowance,
) -> Result<Cow<'a, AttrMap>> {
    if !attrs.values().any(|a| has_placeholder(a, 0)) {
        return Ok(Cow::Borrowed(attrs));
    }
    let mut copy = AttrMap::new();
    for (name, value) in attrs {
        allowance.take(name.len(), 1)?;
        copy.insert(name.clone(), replaced(value, given, signature, allowance, 0)?);
    }
    Ok(Cow::Owned(copy))
}

fn has_placeholder(value: &AttrValue, depth: usize) -> bool {
    match &value.value {
        Some(Value::Placeholder(_)) => true,
        Some(Value::Func(f)) => depth < MAX_DEPTH && f.attr.values().any(|a| has_placeholder(a, depth + 1)),
        Some(Value::List(l)) => {
            let funcs = l.func.iter().flat_map(|f| f.attr.values());
            depth < MAX_DEPTH && funcs.into_iter().any(|a| has_placeholder(a, depth + 1))
        }
        _ => false,
    }
}

/// A copy of the value, charged before it is made: a function of 20 lines can ask for a value that contains
/// what it was given twice, and call a function that does the same.
fn copied(value: &AttrValue, allowance: &mut Allowance) -> Result<AttrValue> {
    let bytes = millstream_proto::encode(value);
    let taken = match &value.value {
        Some(Value::Func(_) | Value::List(_)) => millstream_proto::weight::<AttrValue>(&bytes),
        // Types and numbers take what the allowance of a node includes.
        _ => bytes.len(),
    };
    allowance.take(taken, 1)?;
    Ok(value.clone())
}

// The recursion is bounded by MAX_DEPTH, like the nesting of messages.
fn replaced(
    value: &AttrValue,
    given: &AttrMap,
    signature: &OpDef,
    allowance: &mut Allowance,
    depth: usize,
) -> Result<AttrValue> {
    ensure!(depth < MAX_DEPTH, "attributes are nested more than {MAX_DEPTH} deep");
    let mut in_func = |f: &NameAttrList| -> Result<NameAttrList> {
        let attr: Result<AttrMap> = f
            .attr
            .iter()
            .map(|(name, value)| Ok((name.clone(), replaced(value, given, signature, allowance, depth + 1)?)))
            .collect();
        Ok(NameAttrList { name: f.name.clone(), attr: attr? })
    };
    Ok(match &value.value {
        Some(Value::Placeholder(name)) => {
            let given = lookup(name, given, signature).ok_or_else(|| {
                invalid!("the function takes an attribute `{}`, which the call does not give", short(name))
            })?;
            copied(given, allowance)?
        }
        Some(Value::Func(f)) => of(Value::Func(in_func(f)?)),
        Some(Value::List(l)) if !l.func.is_empty() => {
            let func: Result<Vec<_>> = l.func.iter().map(&mut in_func).collect();
            of(Value::List(Box::new(ListValue { func: func?, ..(**l).clone() })))
        }
        _ => copied(value, allowance)?,
    })
}

/// Returns a function's attribute: the one that the call gives, or the default.
pub(super) fn lookup<'m>(name: &str, given: &'m AttrMap, signature: &'m OpDef) -> Option<&'m AttrValue> {
    given.get(name).or_else(|| signature.attr.iter().find(|a| a.name == name)?.default_value.as_ref())
}
