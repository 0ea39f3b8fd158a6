//! Functions of a graph's library, written out where they are called.
//!
//! A graph of ours has no functions. `PartitionedCall` and calls by name become the nodes of the function's body under the name
//! of the call; `While`, `If` and `Case` become the control-flow primitives around the bodies of their functions (`forms`).
//! The call's own name stays: an `IdentityN` of the results (an `Identity` of one, a `NoOp` of none) has it.
//!
//! What runs when, as TensorFlow has it: all of a body runs when the call does, also what only has an effect
//! ([`Body::effects`]), and nothing of it before the call's control inputs. So that nothing runs in a branch that is not taken or an
//! iteration that never happens, nodes without inputs, and nodes of nothing but [free](Value::free) inputs, hang on a pivot.
//!
//! Calls wait in a worklist, so that nesting costs no stack; a function that calls itself, by whatever way, is an error.

mod attr;
mod body;
mod calls;
mod forms;
mod library;

use crate::allowance::Allowance;
use crate::flat::{Flat, Input, check_name, parse_input, short};
use calls::Call;
use library::Library;
use millstream_graph::op::Registry;
use millstream_proto::{AttrValue, FunctionDef, GraphDef};
use millstream_tensor::{Error, Result, invalid};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use library::check_ops;
pub use library::{MissingOp, missing_ops};

type AttrMap = BTreeMap<String, AttrValue>;

/// A value in the graph being written out.
#[derive(Clone)]
struct Value {
    /// `name` or `name:k`.
    text: String,
    /// It may be there although its context is not running: an invariant of a loop, which every iteration gets, even the one
    /// that never happens.
    free: bool,
}

impl Value {
    fn bound(text: String) -> Value {
        Value { text, free: false }
    }

    fn of(node: &str, index: usize) -> Value {
        Value::bound(if index == 0 { node.to_owned() } else { format!("{node}:{index}") })
    }
}

/// The body of a function, written out.
struct Body {
    outputs: Vec<Value>,
    /// Nodes to wait for: all that has an effect has run when they have.
    effects: Vec<String>,
}

/// A call to be written out.
struct Pending<'a> {
    name: String,
    call: Call<'a>,
    attrs: Cow<'a, AttrMap>,
    device: &'a str,
    inputs: Vec<Value>,
    controls: Vec<String>,
    /// What the call's nodes hang on where nothing else holds them back.
    pivot: Option<String>,
    /// What the names of the call's nodes start with.
    prefix: String,
    /// The function whose body the call is in, by position in `Expansion::chain`.
    within: Option<usize>,
}

struct Expansion<'a, 'w> {
    library: Library<'a>,
    registry: &'static Registry,
    allowance: &'w mut Allowance,
    flat: Vec<Flat<'a>>,
    work: Vec<Pending<'a>>,
    /// The functions being written out, each with the one that it is called from.
    chain: Vec<(Option<usize>, &'a str)>,
}

/// The nodes of the graph, calls replaced by what they call.
pub(crate) fn flatten<'a>(
    def: &'a GraphDef,
    registry: &'static Registry,
    allowance: &mut Allowance,
) -> Result<Vec<Flat<'a>>> {
    let library = Library::of(def)?;
    let mut names = BTreeSet::new();
    let is_call = |op: &str| Call::kind(op, registry, &library).is_some();
    if def.node.iter().any(|n| is_call(&n.op)) {
        names.extend(def.node.iter().map(|n| n.name.as_str()));
    }
    let mut expansion = Expansion {
        library,
        registry,
        allowance,
        flat: Vec::with_capacity(def.node.len()),
        work: Vec::new(),
        chain: Vec::new(),
    };
    let mut taken = BTreeSet::new();
    for node in &def.node {
        let Some(kind) = Call::kind(&node.op, registry, &expansion.library) else {
            expansion.allowance.take_node()?;
            expansion.flat.push(Flat::of(node));
            continue;
        };
        let at = |e: Error| e.at_node(&short(&node.name), &short(&node.op));
        check_name(&node.name).map_err(at)?;
        let call = Call::of(kind, node, &node.attr, &expansion.library).map_err(at)?;
        let (mut inputs, mut controls) = (Vec::new(), Vec::new());
        for text in &node.input {
            match parse_input(text).map_err(at)? {
                Input::Data(..) if !controls.is_empty() => {
                    return Err(at(invalid!("the input `{text}` comes after a control input")));
                }
                Input::Data(..) => inputs.push(Value::bound(text.clone())),
                Input::Control(name) => controls.push(name.to_owned()),
            }
        }
        let prefix = free_prefix(&node.name, &names, &mut taken);
        expansion.work.push(Pending {
            name: node.name.clone(),
            call,
            attrs: Cow::Borrowed(&node.attr),
            device: &node.device,
            inputs,
            controls,
            pivot: None,
            prefix,
            within: None,
        });
    }
    // The first call first.
    expansion.work.reverse();
    while let Some(pending) = expansion.work.pop() {
        let (name, op) = (short(&pending.name).into_owned(), pending.call.op().to_owned());
        expansion.expand(pending).map_err(|e| e.at_node(&name, &short(&op)))?;
    }
    Ok(expansion.flat)
}

/// The name itself, or the name with a number, such that no node's name starts with it and a `/`.
fn free_prefix<'a>(name: &'a str, names: &BTreeSet<&'a str>, taken: &mut BTreeSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut i = 0u64;
    loop {
        let inside = format!("{candidate}/");
        let is_used = names.range(inside.as_str()..).next().is_some_and(|n| n.starts_with(&inside));
        let is_other = i > 0 && names.contains(candidate.as_str());
        if !is_used && !is_other && taken.insert(candidate.clone()) {
            return candidate;
        }
        i += 1;
        candidate = format!("{name}_{i}");
    }
}

impl<'a> Expansion<'a, '_> {
    /// Adds a node of ours.
    fn add(
        &mut self,
        name: String,
        op: &'static str,
        inputs: impl IntoIterator<Item = String>,
        controls: &[String],
        attrs: impl IntoIterator<Item = (&'static str, AttrValue)>,
        device: &'a str,
    ) -> Result<()> {
        let attrs = attrs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let inputs: Vec<_> = inputs.into_iter().map(Cow::Owned).collect();
        let controls = controls.iter().map(|c| Cow::Owned(format!("^{c}")));
        let inputs: Vec<_> = inputs.into_iter().chain(controls).collect();
        self.push(Flat {
            name: Cow::Owned(name),
            op: Cow::Borrowed(op),
            inputs,
            attrs: Cow::Owned(attrs),
            device: Cow::Borrowed(device),
        })
    }

    fn push(&mut self, node: Flat<'a>) -> Result<()> {
        self.allowance.take_node()?;
        let inputs: usize = node.inputs.iter().map(|i| i.len() + size_of::<Cow<str>>()).sum();
        self.allowance.take(node.name.len() + inputs + size_of::<Flat>(), 1)?;
        self.flat.push(node);
        Ok(())
    }

    /// Notes that the body of `function` is being written out, unless that is going on already.
    fn enter(&mut self, function: &'a FunctionDef, within: Option<usize>) -> Result<usize> {
        let name = library::name_of(function);
        let mut path = vec![name];
        let mut at = within;
        while let Some(i) = at {
            let (parent, caller) = self.chain[i];
            path.push(caller);
            if caller == name {
                path.reverse();
                let path: Vec<_> = path.into_iter().take(8).map(|n| format!("`{}`", short(n))).collect();
                return Err(invalid!("the function `{}` calls itself: {}", short(name), path.join(" -> "))
                    .with_help("recursion has no form as a graph; write it as a loop"));
            }
            at = parent;
        }
        self.chain.push((within, name));
        Ok(self.chain.len() - 1)
    }

    /// The node that has the call's name: passes the results on when all that the call does is done.
    fn finish(
        &mut self,
        pending: &Pending<'a>,
        outputs: Vec<Value>,
        types: &[i32],
        mut controls: Vec<String>,
    ) -> Result<()> {
        if outputs.len() != types.len() {
            return Err(invalid!(
                "the call has {} results by its attributes, but its function gives {}",
                types.len(),
                outputs.len()
            ));
        }
        for control in &pending.controls {
            if !controls.contains(control) {
                controls.push(control.clone());
            }
        }
        if controls.is_empty() && outputs.iter().all(|o| o.free) {
            controls.extend(pending.pivot.clone());
        }
        let inputs = outputs.into_iter().map(|o| o.text);
        let (name, device) = (pending.name.clone(), pending.device);
        match types {
            [] => self.add(name, "NoOp", [], &controls, [], device),
            [ty] => self.add(name, "Identity", inputs, &controls, [("T", attr::ty(*ty))], device),
            _ => self.add(name, "IdentityN", inputs, &controls, [("T", attr::types(types))], device),
        }
    }
}
