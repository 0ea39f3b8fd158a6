//! The functions of a library that nodes keep by name, such as those of datasets, become functions of the
//! graph. They are imported one by one, each into a graph of its own; nothing recurses.

use super::body::arg_types;
use super::library::{Library, name_of, named};
use super::{AttrMap, attr, flatten};
use crate::allowance::Allowance;
use crate::flat::{Flat, short};
use crate::import::{Element, ImportOptions, import_flat};
use millstream_graph::op::Registry;
use millstream_graph::{Function, Graph, Port};
use millstream_proto::{FunctionDef, GraphDef, NameAttrList, NodeDef};
use millstream_tensor::{Error, Result, invalid};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes that a node of a body is taken to need.
const NODE: usize = 1600;

/// The functions that nodes refer to, by their names in the message, with their names in the graph.
pub(crate) type Renames = BTreeMap<String, String>;

/// The functions that an import has found and has yet to import.
pub(crate) struct Needed<'a> {
    pub renames: Renames,
    work: Vec<&'a NameAttrList>,
    taken: BTreeSet<String>,
}

impl<'a> Needed<'a> {
    pub(crate) fn new(graph: &Graph) -> Needed<'a> {
        let taken = graph.functions().iter().map(|f| f.name.clone()).collect();
        Needed { renames: Renames::new(), work: Vec::new(), taken }
    }

    /// Adds the functions that a node of the message names.
    fn add(&mut self, function: &'a NameAttrList) {
        if self.renames.contains_key(&function.name) {
            return;
        }
        let mut name = function.name.clone();
        let mut i = 0u64;
        while !self.taken.insert(name.clone()) {
            i += 1;
            name = format!("{}_{i}", function.name);
        }
        self.renames.insert(function.name.clone(), name);
        self.work.push(function);
    }
}

/// Imports the functions that the nodes of `def` and the functions of its library refer to, apart from those
/// that are called. They are not added to the graph yet. The `n_nodes` nodes of `def` count as well.
pub(crate) fn bodies(
    graph: &Graph,
    def: &GraphDef,
    options: &ImportOptions,
    n_nodes: usize,
) -> Result<(Vec<Function>, Renames)> {
    let registry = graph.registry();
    let library = Library::of(def)?;
    let mut needed = Needed::new(graph);
    let mut left = options.clone();
    left.max_nodes = left.max_nodes.saturating_sub(n_nodes);
    (left.prefix, left.unique_names) = (String::new(), false);
    left.input_map.clear();
    left.control_dependencies.clear();
    references(def, registry, &library, &mut needed);
    if needed.work.is_empty() {
        return Ok((Vec::new(), needed.renames));
    }
    let mut message =
        GraphDef { library: def.library.clone(), versions: def.versions.clone(), ..GraphDef::default() };
    let mut made = Vec::new();
    while let Some(function) = needed.work.pop() {
        let at = |e: Error| e.note(format!("in function `{}`", short(&function.name)));
        let (found, _) = library.get(&function.name).map_err(at)?;
        let name = needed.renames.get(&function.name).cloned().unwrap_or_default();
        let body = body(graph, &mut message, found, function, &left, &needed.renames).map_err(at)?;
        let n = body.body.len();
        left.max_nodes = left.max_nodes.saturating_sub(n);
        left.memory_limit = left.memory_limit.saturating_sub(n.saturating_mul(NODE));
        made.push(Function { name, ..body });
    }
    Ok((made, needed.renames))
}

/// Adds the functions that nodes keep by name: nodes of the graph, and of the functions that it reaches.
fn references<'a>(def: &'a GraphDef, registry: &Registry, library: &Library<'a>, needed: &mut Needed<'a>) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut work: Vec<&'a [NodeDef]> = vec![&def.node];
    while let Some(nodes) = work.pop() {
        for node in nodes {
            let keeps = registry.get(&node.op).is_some();
            let mut reach = |name: &'a str| {
                if let Ok((function, _)) = library.get(name)
                    && seen.insert(name)
                {
                    work.push(&function.node_def);
                }
            };
            if !keeps {
                reach(&node.op);
            }
            for f in named(node).filter(|f| library.has(&f.name)) {
                reach(&f.name);
                if keeps {
                    needed.add(f);
                }
            }
        }
    }
}

/// Imports a function: placeholders for its arguments, and a call, which is expanded.
fn body(
    graph: &Graph,
    message: &mut GraphDef,
    found: &FunctionDef,
    function: &NameAttrList,
    options: &ImportOptions,
    renames: &Renames,
) -> Result<Function> {
    let signature = found.signature.as_ref().ok_or_else(|| invalid!("the function has no signature"))?;
    let inputs = arg_types(&signature.input_arg, &function.attr, signature)?;
    let outputs = arg_types(&signature.output_arg, &function.attr, signature)?;
    let call = "body";
    let argument = |i: usize| format!("args_{i}");
    let mut nodes: Vec<NodeDef> = Vec::with_capacity(inputs.len() + 1);
    for (i, ty) in inputs.iter().enumerate() {
        let attr: AttrMap = [("dtype".to_owned(), attr::ty(*ty))].into();
        nodes.push(NodeDef { name: argument(i), op: "Placeholder".into(), attr, ..NodeDef::default() });
    }
    nodes.push(NodeDef {
        name: call.to_owned(),
        op: name_of(found).to_owned(),
        input: (0..inputs.len()).map(argument).collect(),
        attr: function.attr.clone(),
        ..NodeDef::default()
    });
    message.node = nodes;
    let arguments = (0..inputs.len()).map(|i| format!("{}:0", argument(i)));
    let results = (0..outputs.len()).map(|i| format!("{call}:{i}"));
    let options = ImportOptions { return_elements: arguments.chain(results).collect(), ..options.clone() };
    let body = Graph::with_ops(graph.registry());
    let mut allowance = Allowance::new(options.memory_limit, options.max_nodes, options.deadline);
    let flat: Vec<Flat> = flatten(message, graph.registry(), &mut allowance)?;
    let imported = import_flat(&body, message, flat, allowance, &options, renames, |_, _| Ok(()))?;
    let port = |element: &Element| match element {
        Element::Output(port) => *port,
        Element::Op(id) => Port::new(*id, 0),
    };
    let mut ports: Vec<Port> = imported.elements.iter().map(port).collect();
    let outputs = ports.split_off(inputs.len());
    Ok(Function { name: String::new(), body, inputs: ports, outputs })
}
