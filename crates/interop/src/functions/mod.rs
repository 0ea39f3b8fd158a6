//! The expansion of functions of a graph's library where they are called.
//!
//! Graphs here have no functions. `PartitionedCall` and calls by name become the nodes of the function's body
//! under the name of the call; `While`, `If` and `Case` become control-flow primitives around the bodies of
//! their functions (`forms`). The name of the call is kept by an `IdentityN` of the results (an `Identity` if
//! there is one, a `NoOp` if there is none).
//!
//! The order of execution is TensorFlow's: all of a body runs when the call does, including nodes that only
//! have an effect ([`Body::effects`]), and none of it before the call's control inputs. Nodes without inputs,
//! and nodes with only [free](Value::free) inputs, wait for a pivot, so that nothing runs in a branch that is
//! not taken or an iteration that never happens.
//!
//! Calls wait in a worklist, so that nesting takes no stack. A function that calls itself, directly or not,
//! is an error.

mod attr;
mod bodies;
mod body;
mod calls;
mod forms;
mod left_out;
mod library;

use crate::allowance::Allowance;
use crate::flat::{Flat, Input, check_name, parse_input, short};
use calls::Call;
use library::Library;
use millstream_graph::op::Registry;
use millstream_proto::{AttrValue, FunctionDef, GraphDef};
use millstream_tensor::{Error, Result, invalid};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};

pub(crate) use bodies::{Renames, bodies};
pub(crate) use left_out::LeftOut;
pub(crate) use library::check_ops;
pub use library::{MissingOp, missing_ops};

type AttrMap = BTreeMap<String, AttrValue>;

/// A value in the graph that is being made.
#[derive(Clone)]
struct Value {
    /// `name` or `name:k`.
    text: String,
    /// Whether it may be alive although its context does not run, like an invariant of a loop, which every
    /// iteration gets, even the one that never happens.
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

/// The expanded body of a function.
struct Body {
    outputs: Vec<Value>,
    /// The nodes to wait for: when they have run, everything with an effect has.
    effects: Vec<String>,
}

/// A call that is to be expanded.
struct Pending<'a> {
    name: String,
    call: Call<'a>,
    attrs: Cow<'a, AttrMap>,
    device: &'a str,
    inputs: Vec<Value>,
    controls: Vec<String>,
    /// The node that the call's nodes wait for if nothing else holds them back.
    pivot: Option<String>,
    /// The prefix of the names of the call's nodes.
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
    /// The functions that are being expanded, each with the one that calls it.
    chain: Vec<(Option<usize>, &'a str)>,
}

/// Returns the nodes of the graph with all calls expanded.
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
            expansion.allowance.take_node(node.input.len())?;
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
    // The first call is expanded first.
    expansion.work.reverse();
    while let Some(pending) = expansion.work.pop() {
        let (name, op) = (short(&pending.name).into_owned(), pending.call.op().to_owned());
        expansion.expand(pending).map_err(|e| e.at_node(&name, &short(&op)))?;
    }
    Ok(expansion.flat)
}

/// Returns the name, with a number if necessary, such that no node's name starts with it and a `/`.
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
    /// Adds a node that the message does not have.
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
        self.add_with(name, op, inputs, controls, attrs, device)
    }

    /// Like [`Expansion::add`], with all attributes.
    fn add_with(
        &mut self,
        name: String,
        op: &'static str,
        inputs: impl IntoIterator<Item = String>,
        controls: &[String],
        attrs: AttrMap,
        device: &'a str,
    ) -> Result<()> {
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
        self.allowance.take_node(node.inputs.len())?;
        let inputs: usize = node.inputs.iter().map(|i| i.len() + size_of::<Cow<str>>()).sum();
        self.allowance.take(node.name.len() + inputs + size_of::<Flat>(), 1)?;
        self.flat.push(node);
        Ok(())
    }

    /// Records that the body of `function` is being expanded. Fails if it is being expanded already.
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
                    .with_help("a graph cannot express recursion; write it as a loop"));
            }
            at = parent;
        }
        self.chain.push((within, name));
        Ok(self.chain.len() - 1)
    }

    /// Makes the node with the call's name, which passes the results on when the call is done.
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
        let known: HashSet<&String> = controls.iter().collect();
        let new: Vec<_> = pending.controls.iter().filter(|c| !known.contains(c)).cloned().collect();
        controls.extend(new);
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
