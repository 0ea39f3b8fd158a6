//! The expansion of a function's body: names are put under a prefix, arguments are replaced by values.
//!
//! In a body an input is spelled `arg`, `node:output:i` or `^node`, where `output` is the op's name of an
//! output (which may be a list); `node:output` without a number means the whole list.

use super::calls::{Call, Target};
use super::{AttrMap, Body, Expansion, Pending, Value, attr, free_prefix};
use crate::flat::{Flat, check_name, short};
use millstream_graph::Attr;
use millstream_graph::op::{Count, Effect, OpDef as OpDecl, Registry, Role};
use millstream_proto::attr_value::Value as Message;
use millstream_proto::op_def::ArgDef;
use millstream_proto::{NodeDef, OpDef};
use millstream_tensor::{Error, Result, ensure, invalid};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// The maximum number of values of one argument.
const MAX_ARITY: usize = 1 << 24;

/// A node of a body that is being expanded.
struct Inner<'a> {
    node: &'a NodeDef,
    attrs: Cow<'a, AttrMap>,
    call: Option<Call<'a>>,
}

impl<'a> Expansion<'a, '_> {
    /// Expands the body of a function under `prefix`.
    pub(super) fn instantiate(
        &mut self,
        target: &Target<'a>,
        args: Vec<Value>,
        prefix: &str,
        pivot: Option<&str>,
        device: &'a str,
        within: Option<usize>,
    ) -> Result<Body> {
        let within = self.enter(target.def, within)?;
        let note = |e: Error| e.note(format!("in function `{}`", short(&target.signature.name)));
        self.instantiate_entered(target, args, prefix, pivot, device, within).map_err(note)
    }

    fn instantiate_entered(
        &mut self,
        target: &Target<'a>,
        args: Vec<Value>,
        prefix: &str,
        pivot: Option<&str>,
        device: &'a str,
        within: usize,
    ) -> Result<Body> {
        let mut inner = Vec::with_capacity(target.def.node_def.len());
        for node in &target.def.node_def {
            check_name(&node.name)?;
            let at = |e: Error| e.at_node(&short(&node.name), &short(&node.op));
            let attrs =
                attr::instantiate(&node.attr, &target.attrs, target.signature, self.allowance).map_err(at)?;
            let kind = Call::kind(&node.op, self.registry, &self.library);
            let call =
                kind.map(|kind| Call::of(kind, node, &attrs, &self.library)).transpose().map_err(at)?;
            inner.push(Inner { node, attrs, call });
        }
        let scope = Scope::of(target, &inner, &args, prefix, self.registry)?;
        let names: BTreeSet<&str> = inner.iter().map(|i| i.node.name.as_str()).collect();
        let mut taken = BTreeSet::new();
        let outputs = self.outputs(target, &scope)?;
        let effects = self.effects(target, &inner, &scope, prefix, device)?;
        let controlled: Vec<Placed> = inner
            .iter()
            .map(|i| {
                self.place(i, &scope, pivot).map_err(|e| e.at_node(&short(&i.node.name), &short(&i.node.op)))
            })
            .collect::<Result<_>>()?;
        drop(scope);
        for (i, placed) in inner.into_iter().zip(controlled) {
            let name = format!("{prefix}/{}", i.node.name);
            let device = if i.node.device.is_empty() { device } else { &i.node.device };
            match i.call {
                Some(call) => {
                    let inside = free_prefix(&i.node.name, &names, &mut taken);
                    self.allowance.take(size_of::<Pending>() + name.len() * 2, 1)?;
                    self.work.push(Pending {
                        name,
                        call,
                        attrs: i.attrs,
                        device,
                        inputs: placed.inputs,
                        controls: placed.controls,
                        pivot: pivot.map(str::to_owned),
                        prefix: format!("{prefix}/{inside}"),
                        within: Some(within),
                    });
                }
                None => {
                    let attrs = self.adapt(i.node, i.attrs, prefix);
                    let inputs = placed.inputs.into_iter().map(|v| Cow::Owned(v.text));
                    let controls = placed.controls.into_iter().map(|c| Cow::Owned(format!("^{c}")));
                    let op = Cow::Borrowed(i.node.op.as_str());
                    let inputs = inputs.chain(controls).collect();
                    self.push(Flat {
                        name: Cow::Owned(name),
                        op,
                        inputs,
                        attrs,
                        device: Cow::Borrowed(device),
                    })?;
                }
            }
        }
        Ok(Body { outputs, effects })
    }

    fn place(&mut self, inner: &Inner<'a>, scope: &Scope<'_, 'a>, pivot: Option<&str>) -> Result<Placed> {
        let (mut inputs, mut controls) = (Vec::new(), Vec::new());
        for text in &inner.node.input {
            match text.strip_prefix('^') {
                Some(name) => controls.push(scope.control(name)?),
                None => {
                    ensure!(controls.is_empty(), "the input `{}` comes after a control input", short(text));
                    let mut values = scope.values(text, self.allowance)?;
                    inputs.append(&mut values);
                }
            }
        }
        // A control input from another node of the body holds the node back; one from an argument may not.
        let held = inner.node.input.iter().filter_map(|i| i.strip_prefix('^')).any(|c| scope.is_node(c));
        let needs_pivot = !held && inputs.iter().all(|v| v.free);
        // A call does this itself for each of its inputs.
        if needs_pivot && (inner.call.is_none() || inputs.is_empty()) {
            controls.extend(pivot.map(str::to_owned));
        }
        Ok(Placed { inputs, controls })
    }

    fn outputs(&mut self, target: &Target<'a>, scope: &Scope<'_, 'a>) -> Result<Vec<Value>> {
        let mut outputs = Vec::new();
        for arg in &target.signature.output_arg {
            let text = target.def.ret.get(&arg.name);
            let text = text.ok_or_else(|| {
                invalid!("the function does not say what its result `{}` is", short(&arg.name))
            })?;
            outputs.append(&mut scope.values(text, self.allowance)?);
        }
        Ok(outputs)
    }

    /// Returns the nodes that must have run when the call is done: those that the function lists, or else
    /// every node with an effect.
    fn effects(
        &mut self,
        target: &Target<'a>,
        inner: &[Inner<'a>],
        scope: &Scope<'_, 'a>,
        prefix: &str,
        device: &'a str,
    ) -> Result<Vec<String>> {
        let role = |i: &Inner| self.registry.get(&i.node.op).map(|d| d.role);
        let switches = |i: &Inner| matches!(role(i), Some(Role::Switch | Role::Enter | Role::Merge));
        let has_primitives = inner.iter().any(switches);
        let mut effects: Vec<String> = Vec::new();
        if !target.def.control_ret.is_empty() {
            let mut known = HashSet::new();
            for name in target.def.control_ret.values() {
                let node = scope.control(name)?;
                if known.insert(node.clone()) {
                    effects.push(node);
                }
            }
        } else if !has_primitives {
            // In a body with control-flow primitives a node may lie in a loop, or be dead. Such functions
            // list what to wait for.
            let has_effect = |i: &&Inner| match &i.call {
                Some(call) => matches!(call.op, "While" | "If" | "Case" | "StatefulPartitionedCall"),
                None => self.registry.get(&i.node.op).is_some_and(|d| {
                    d.role == Role::Compute && matches!(d.kernel.effect, Effect::Writes | Effect::Stateful)
                }),
            };
            effects.extend(inner.iter().filter(has_effect).map(|i| format!("{prefix}/{}", i.node.name)));
        }
        if effects.len() < 2 && !has_primitives || effects.is_empty() {
            return Ok(effects);
        }
        let mut name = "control_ret".to_owned();
        while scope.is_node(&name) {
            name.push('_');
        }
        let name = format!("{prefix}/{name}");
        // A ControlTrigger runs even if a node that it waits for lies in a branch that is not taken.
        let op = if has_primitives { "ControlTrigger" } else { "NoOp" };
        self.add(name.clone(), op, [], &effects, [], device)?;
        Ok(vec![name])
    }

    /// Puts the names of frames under the prefix, and removes colocations.
    fn adapt(&self, node: &NodeDef, attrs: Cow<'a, AttrMap>, prefix: &str) -> Cow<'a, AttrMap> {
        let mut attrs = attrs;
        if let Some(Message::S(frame)) = attrs.get("frame_name").and_then(|a| a.value.as_ref())
            && matches!(&*node.op, "Enter" | "RefEnter")
        {
            let frame = format!("{prefix}/{}", String::from_utf8_lossy(frame));
            attrs.to_mut().insert("frame_name".into(), attr::text(&frame));
        }
        // Colocation has no meaning here, and would name nodes that do not exist.
        if attrs.contains_key("_class") {
            attrs.to_mut().remove("_class");
        }
        attrs
    }
}

struct Placed {
    inputs: Vec<Value>,
    controls: Vec<String>,
}

/// The names of a body.
struct Scope<'s, 'a> {
    args: HashMap<&'a str, Range<usize>>,
    values: &'s [Value],
    nodes: HashMap<&'a str, &'s Inner<'a>>,
    prefix: &'s str,
    registry: &'static Registry,
}

impl<'s, 'a> Scope<'s, 'a> {
    fn of(
        target: &Target<'a>,
        inner: &'s [Inner<'a>],
        values: &'s [Value],
        prefix: &'s str,
        registry: &'static Registry,
    ) -> Result<Self> {
        let mut args = HashMap::new();
        let mut n = 0usize;
        for arg in &target.signature.input_arg {
            let count = arg_count(arg, &target.attrs, target.signature)?;
            let end = n.checked_add(count).ok_or_else(|| invalid!("the function has too many arguments"))?;
            if args.insert(arg.name.as_str(), n..end).is_some() {
                return Err(invalid!("two arguments are named `{}`", short(&arg.name)));
            }
            n = end;
        }
        ensure!(n == values.len(), "the function takes {n} arguments, but the call gives {}", values.len());
        let mut nodes = HashMap::new();
        for i in inner {
            if nodes.insert(i.node.name.as_str(), i).is_some() || args.contains_key(&*i.node.name) {
                return Err(invalid!("two nodes or arguments are named `{}`", short(&i.node.name)));
            }
        }
        Ok(Scope { args, values, nodes, prefix, registry })
    }

    fn is_node(&self, name: &str) -> bool {
        self.nodes.contains_key(name)
    }

    /// Returns the node that the control input `^name` waits for.
    fn control(&self, name: &str) -> Result<String> {
        if self.is_node(name) {
            return Ok(format!("{}/{name}", self.prefix));
        }
        let value = self.args.get(name).and_then(|r| self.values.get(r.start));
        let value = value.ok_or_else(|| invalid!("the function has no node `{}`", short(name)))?;
        Ok(value.text.split_once(':').map_or(&*value.text, |(node, _)| node).to_owned())
    }

    /// Returns the values of an input.
    fn values(&self, text: &str, allowance: &mut crate::allowance::Allowance) -> Result<Vec<Value>> {
        let mut parts = text.split(':');
        let (name, second, third) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        let missing = || invalid!("the function has nothing named `{}`", short(text));
        let number = |text: &str| text.parse::<usize>().map_err(|_| missing());
        ensure!(parts.next().is_none(), "`{}` is not the name of a value", short(text));
        if let Some(range) = self.args.get(name) {
            let all = self.values.get(range.clone()).ok_or_else(missing)?;
            let chosen = match (second, third) {
                (None, _) => all,
                (Some(i), None) | (Some(_), Some(i)) => {
                    let i = number(i)?;
                    all.get(i..i.saturating_add(1)).ok_or_else(missing)?
                }
            };
            allowance.take(chosen.iter().map(|v| v.text.len() + size_of::<Value>()).sum(), 1)?;
            return Ok(chosen.to_vec());
        }
        let inner = self.nodes.get(name).ok_or_else(missing)?;
        let node = format!("{}/{name}", self.prefix);
        let range = match second {
            None => 0..1,
            Some(index) if third.is_none() && index.bytes().all(|b| b.is_ascii_digit()) => {
                let index = number(index)?;
                index..index.saturating_add(1)
            }
            Some(output) => {
                let range = self.output_range(inner, output)?;
                match third {
                    None => range,
                    Some(i) => {
                        let i = number(i)?;
                        ensure!(i < range.len(), "`{}`: the output has {} values", short(text), range.len());
                        range.start + i..range.start + i + 1
                    }
                }
            }
        };
        allowance.take(range.len(), node.len() + 8 + size_of::<Value>())?;
        Ok(range.map(|i| Value::of(&node, i)).collect())
    }

    /// Returns the range of a node's outputs that belong to an output argument.
    fn output_range(&self, inner: &Inner<'a>, output: &str) -> Result<Range<usize>> {
        let missing = || {
            invalid!(
                "`{}` ({}) has no output `{}`",
                short(&inner.node.name),
                short(&inner.node.op),
                short(output)
            )
        };
        match &inner.call {
            Some(call) if call.kind == super::calls::Kind::Direct => {
                let target = call.targets.first().ok_or_else(missing)?;
                range_of(output, &target.signature.output_arg, |arg| {
                    Ok((arg.name.as_str(), arg_count(arg, &target.attrs, target.signature)?))
                })?
                .ok_or_else(missing)
            }
            Some(call) => Ok(0..call.output_types(&inner.attrs)?.len()),
            None => {
                let def = self.registry.get(&inner.node.op).ok_or_else(missing)?;
                range_of(output, &def.outputs, |arg| {
                    // A single output argument matches any name.
                    let name = if def.outputs.len() == 1 { output } else { arg.name };
                    Ok((name, declared_count(def, arg.count, &inner.attrs)?))
                })?
                .ok_or_else(missing)
            }
        }
    }
}

fn range_of<'m, A>(
    name: &str,
    args: &'m [A],
    describe: impl Fn(&'m A) -> Result<(&'m str, usize)>,
) -> Result<Option<Range<usize>>>
where
    A: 'm,
{
    let mut start = 0usize;
    for arg in args {
        let (this, count) = describe(arg)?;
        let end = start.checked_add(count).ok_or_else(|| invalid!("a node has too many outputs"))?;
        if this == name {
            return Ok(Some(start..end));
        }
        start = end;
    }
    Ok(None)
}

fn declared_count(def: &OpDecl, count: Count, attrs: &AttrMap) -> Result<usize> {
    let (Count::Number(name) | Count::List(name)) = count else { return Ok(1) };
    let default = def.attr_spec(name).and_then(|s| s.default.as_ref());
    match (attrs.get(name).and_then(|a| a.value.as_ref()), default) {
        (Some(Message::I(n)), _) | (None, Some(Attr::Int(n))) => arity(*n),
        (Some(Message::List(list)), _) => Ok(list.r#type.len()),
        (None, Some(Attr::List(list))) => Ok(list.len()),
        _ => Err(invalid!("the node needs the attribute `{name}`, which is the number of its outputs")),
    }
}

fn arity(n: i64) -> Result<usize> {
    let count = usize::try_from(n).ok().filter(|n| *n <= MAX_ARITY);
    count.ok_or_else(|| invalid!("{n} is not a number of values"))
}

/// Returns the number of values of a function's argument.
fn arg_count(arg: &ArgDef, attrs: &AttrMap, signature: &OpDef) -> Result<usize> {
    Ok(arg_type(arg, attrs, signature)?.1)
}

/// Returns the types of a function's arguments or results.
pub(super) fn arg_types(args: &[ArgDef], attrs: &AttrMap, signature: &OpDef) -> Result<Vec<i32>> {
    let mut types = Vec::new();
    for arg in args {
        let (ty, count) = arg_type(arg, attrs, signature)?;
        match ty {
            Some(ty) => types.resize(types.len() + count, ty),
            None => {
                if let Some(Message::List(list)) = value(attrs, signature, &arg.type_list_attr) {
                    types.extend_from_slice(&list.r#type);
                }
            }
        }
        ensure!(types.len() <= MAX_ARITY, "the function has too many arguments");
    }
    Ok(types)
}

fn value<'m>(attrs: &'m AttrMap, signature: &'m OpDef, name: &str) -> Option<&'m Message> {
    attr::lookup(name, attrs, signature)?.value.as_ref()
}

/// Returns the type of an argument's values, if they all have the same, and their number.
fn arg_type(arg: &ArgDef, attrs: &AttrMap, signature: &OpDef) -> Result<(Option<i32>, usize)> {
    let missing = |name: &str| {
        invalid!("the function takes an attribute `{}`, which the call does not give", short(name))
    };
    if !arg.type_list_attr.is_empty() {
        return match value(attrs, signature, &arg.type_list_attr) {
            Some(Message::List(list)) => Ok((None, list.r#type.len())),
            _ => Err(missing(&arg.type_list_attr)),
        };
    }
    let count = match arg.number_attr.is_empty() {
        true => 1,
        false => match value(attrs, signature, &arg.number_attr) {
            Some(Message::I(n)) => arity(*n)?,
            _ => return Err(missing(&arg.number_attr)),
        },
    };
    let ty = match arg.type_attr.is_empty() {
        true => arg.r#type,
        false => match value(attrs, signature, &arg.type_attr) {
            Some(Message::Type(ty)) => *ty,
            _ => return Err(missing(&arg.type_attr)),
        },
    };
    Ok((Some(ty), count))
}

/// Returns the type of the single result of a condition.
pub(super) fn only_type(target: &Target) -> Result<i32> {
    match arg_types(&target.signature.output_arg, &target.attrs, target.signature)?.as_slice() {
        [ty] => Ok(*ty),
        types => Err(invalid!("a condition gives one value, not {}", types.len())),
    }
}

/// Returns whether result `i` of the function is its argument `i`, passed through.
pub(super) fn passes_through(target: &Target, i: usize) -> bool {
    let (args, results) = (&target.signature.input_arg, &target.signature.output_arg);
    let single = |a: &ArgDef| a.number_attr.is_empty() && a.type_list_attr.is_empty();
    let plain = args.iter().chain(results).all(single);
    match (args.get(i), results.get(i)) {
        (Some(arg), Some(result)) => {
            plain && target.def.ret.get(&result.name).is_some_and(|r| *r == arg.name)
        }
        _ => false,
    }
}
