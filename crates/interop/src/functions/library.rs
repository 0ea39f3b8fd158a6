//! [`Library`]: the functions of a graph by name; and the ops that a graph and its functions need.

use super::calls::Call;
use crate::flat::short;
use millstream_graph::op::Registry;
use millstream_proto::attr_value::Value;
use millstream_proto::{FunctionDef, GraphDef, NameAttrList, NodeDef, OpDef};
use millstream_tensor::{Error, Result, invalid};
use std::collections::{BTreeMap, BTreeSet};

/// The number of nodes that the error about missing ops names for each op.
const PLACES_NAMED: usize = 3;

/// The maximum number of missing op types that are named. No real graph lacks as many.
const TYPES_NAMED: usize = 1000;

pub(super) struct Library<'a> {
    functions: BTreeMap<&'a str, &'a FunctionDef>,
}

/// Returns the name of a function. A function in a library has one.
pub(super) fn name_of(function: &FunctionDef) -> &str {
    function.signature.as_ref().map_or("", |s| &s.name)
}

impl<'a> Library<'a> {
    pub(super) fn of(def: &'a GraphDef) -> Result<Library<'a>> {
        let mut functions: BTreeMap<&str, &FunctionDef> = BTreeMap::new();
        for function in def.library.iter().flat_map(|l| &l.function) {
            let name = name_of(function);
            if name.is_empty() {
                return Err(invalid!("a function of the graph's library has no name"));
            }
            if functions.insert(name, function).is_some_and(|other| other != function) {
                return Err(invalid!("two functions are named `{}`", short(name)));
            }
        }
        Ok(Library { functions })
    }

    /// Returns the functions, in the order of their names.
    pub(super) fn functions(&self) -> impl Iterator<Item = &'a FunctionDef> {
        self.functions.values().copied()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }

    pub(super) fn get(&self, name: &str) -> Result<(&'a FunctionDef, &'a OpDef)> {
        let function = self.functions.get(name).copied();
        let function = function.and_then(|f| Some((f, f.signature.as_ref()?)));
        function.ok_or_else(|| invalid!("the graph's library has no function `{}`", short(name)))
    }
}

/// Returns the functions that the attributes of a node name.
pub(super) fn named(node: &NodeDef) -> impl Iterator<Item = &NameAttrList> {
    node.attr.values().flat_map(|value| match &value.value {
        Some(Value::Func(f)) => std::slice::from_ref(f),
        Some(Value::List(list)) => &list.func,
        _ => &[],
    })
}

/// Returns the names of the functions that a node calls or keeps. The name of an op that is not in the
/// registry is among them: it may be that of a function.
pub(super) fn uses<'a>(node: &'a NodeDef, registry: &Registry) -> impl Iterator<Item = &'a str> {
    let called = registry.get(&node.op).is_none().then_some(node.op.as_str());
    called.into_iter().chain(named(node).map(|f| f.name.as_str()))
}

/// Returns whether nodes of this op are neither of an op type of the registry nor calls.
pub(super) fn is_unknown(op: &str, registry: &Registry, library: &Library) -> bool {
    registry.get(op).is_none() && Call::kind(op, registry, library).is_none()
}

/// An op type that a graph needs and the registry lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingOp {
    /// The number of its nodes, in the graph and in the functions that it uses.
    pub count: usize,
    /// The names of the first few of them.
    pub places: Vec<String>,
}

/// Checks that the graph, and the functions that it uses, need no unknown op types. The error lists them.
pub(crate) fn check_ops(def: &GraphDef, registry: &Registry) -> Result<()> {
    let missing = missing_ops(def, registry)?;
    match missing.is_empty() {
        true => Ok(()),
        false => Err(report(&missing, registry)),
    }
}

/// Returns the unknown op types, by name, that the graph or a function that it uses needs.
pub fn missing_ops<'a>(def: &'a GraphDef, registry: &Registry) -> Result<BTreeMap<&'a str, MissingOp>> {
    let library = Library::of(def)?;
    let mut missing: BTreeMap<&str, MissingOp> = BTreeMap::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut work: Vec<(&[NodeDef], Option<&str>)> = vec![(&def.node, None)];
    while let Some((nodes, function)) = work.pop() {
        for node in nodes {
            if is_unknown(&node.op, registry, &library) {
                let MissingOp { count, places } = missing.entry(&node.op).or_default();
                *count += 1;
                if places.len() < PLACES_NAMED {
                    let of = function.map_or(String::new(), |f| format!(" of function `{}`", short(f)));
                    places.push(format!("`{}`{of}", short(&node.name)));
                }
                continue;
            }
            for name in uses(node, registry) {
                if let Ok((function, signature)) = library.get(name)
                    && seen.insert(&signature.name)
                {
                    work.push((&function.node_def, Some(&signature.name)));
                }
            }
        }
    }
    Ok(missing)
}

fn report(missing: &BTreeMap<&str, MissingOp>, registry: &Registry) -> Error {
    let n = missing.len();
    let types = if n == 1 { "an op type".to_owned() } else { format!("{n} op types") };
    let names: Vec<_> = missing.keys().take(TYPES_NAMED).map(|op| short(op)).collect();
    let mut error = Error::unimplemented(format!(
        "the op library lacks {types} that the graph uses: {}{}",
        names.join(", "),
        if n > TYPES_NAMED { ", .." } else { "" }
    ));
    for (op, MissingOp { count, places }) in missing.iter().take(TYPES_NAMED) {
        let more =
            if *count > places.len() { format!(" and {} more", count - places.len()) } else { String::new() };
        error = error.note(format!("{}: {}{more}", short(op), places.join(", ")));
    }
    let features: BTreeSet<&str> = missing.keys().filter_map(|op| registry.lacking(op)).collect();
    if !features.is_empty() {
        let features: Vec<String> = features.iter().map(|f| format!("`{f}`")).collect();
        error = error.with_help(format!(
            "this build leaves ops out: turn on {} of the crate `millstream`",
            features.join(", ")
        ));
    }
    match missing.contains_key("SymbolicGradient") {
        true => error.with_help(
            "SymbolicGradient is a gradient not yet built: take the gradient in TensorFlow 2, or outside of functions",
        ),
        false => error,
    }
}
