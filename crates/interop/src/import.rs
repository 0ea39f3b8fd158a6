//! [`import_graph_def`]: adds the nodes of a `GraphDef` to a graph.
//!
//! First functions are expanded (`functions`), then inputs are resolved, then nodes are made, each after its
//! inputs and otherwise in the order of the message; the back edges of loops are closed last. Nothing here
//! recurses, and everything that a message asks for is checked against [`ImportOptions::memory_limit`] and
//! [`ImportOptions::max_nodes`] before it is made. After an error the graph is as it was before.

use crate::allowance::{Allowance, OUTPUT};
use crate::export::PRODUCER;
use crate::flat::{Flat, Input, check_name, parse_input, short};
use crate::functions::{LeftOut, Renames};
use crate::{attrs, contexts, definitions, functions, signature};
use millstream_graph::loops::is_back_edge;
use millstream_graph::op::{AttrKind, Count, OpDef, Registry, Role, n_outputs};
use millstream_graph::{
    Arg, Attr, Attrs, FuncRef, Graph, GraphData, NodeId, Op, Output, Port, Program, Unique, topological,
};
use millstream_proto::{AttrValue, GraphDef, NodeDef, OpList, VersionDef, encoded_len};
use millstream_state::machine_memory;
use millstream_tensor::{Code, DType, Error, PartialShape, Result, Str, budget, ensure, invalid};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

/// Before this producer version, the shape `[]` of a placeholder meant an unknown shape.
const EMPTY_SHAPE_IS_SCALAR: i32 = 24;

/// Before this producer version, `_output_shapes` could be wrong.
const OUTPUT_SHAPES_HOLD: i32 = 21;

/// The options of an import. `ImportOptions::default()` imports everything as it is.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The prefix of every name, before a `/`. It is made unique, unless it ends in `/`. Empty for none.
    pub prefix: String,
    /// Replacements of inputs of the message: `name`, `name:k` (values) or `^name` (control inputs), to a
    /// value of the graph.
    pub input_map: BTreeMap<String, Port>,
    /// The elements of the message to return: `name` for an operation, `name:k` for a value.
    pub return_elements: Vec<String>,
    /// Nodes that have to run before the imported nodes that depend on no other imported node.
    pub control_dependencies: Vec<NodeId>,
    /// Whether a name that the graph has already is made unique. If not, it is an error.
    pub unique_names: bool,
    /// The op types that the producer knew (`MetaInfoDef.stripped_op_list`). Unknown attributes are left out
    /// if they have the default that this list gives.
    pub producer_ops: Option<OpList>,
    /// Whether nodes of op types that the registry lacks are left out, with all nodes that need one. To ask
    /// the graph for such a node by name is then an `UNIMPLEMENTED` error that names the op type. If not, a
    /// graph with such nodes is an error.
    pub leave_out_unknown: bool,
    /// The maximum number of bytes that the import may take: tensors, strings, copies of function bodies, and
    /// the nodes themselves. By default a quarter of the memory that the process may use, and at most 8 GiB.
    pub memory_limit: usize,
    /// The maximum number of nodes, with all functions expanded.
    pub max_nodes: usize,
    /// The time at which the import gives up.
    pub deadline: Option<Instant>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        ImportOptions {
            prefix: String::new(),
            input_map: BTreeMap::new(),
            return_elements: Vec::new(),
            control_dependencies: Vec::new(),
            unique_names: false,
            producer_ops: None,
            leave_out_unknown: false,
            memory_limit: (8 << 30).min(machine_memory() / 4),
            max_nodes: 1 << 24,
            deadline: None,
        }
    }
}

/// The result of an import.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The nodes, in the order of creation.
    pub nodes: Vec<NodeId>,
    /// The elements that [`ImportOptions::return_elements`] names.
    pub elements: Vec<Element>,
    /// The prefix of the names, with its `/`, or empty.
    pub prefix: String,
}

/// An operation or a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// An operation.
    Op(NodeId),
    /// A value.
    Output(Port),
}

/// Adds the nodes of `def` to `graph`.
pub fn import_graph_def(graph: &Graph, def: &GraphDef, options: &ImportOptions) -> Result<Imported> {
    import(graph, def, options, |_, _| Ok(()))
}

/// Imports the nodes, then calls `finish` to add collections and contexts. Removes everything again if
/// anything fails.
pub(crate) fn import(
    graph: &Graph,
    def: &GraphDef,
    options: &ImportOptions,
    finish: impl FnOnce(&Imported, &Program) -> Result<()>,
) -> Result<Imported> {
    check_versions(def)?;
    let registry = graph.registry();
    let mut allowance = Allowance::new(options.memory_limit, options.max_nodes, options.deadline);
    let left_out = match options.leave_out_unknown {
        true => Some(LeftOut::of(def, registry, &options.input_map, &mut allowance)?),
        false => functions::check_ops(def, registry).map(|()| None)?,
    };
    let left_out = left_out.filter(|l| !l.is_empty());
    let def = match &left_out {
        Some(left_out) => {
            let mut returned = options.return_elements.iter().filter(|e| !options.input_map.contains_key(*e));
            returned.try_for_each(|e| left_out.check(e))?;
            Cow::Owned(with_nodes(def, |node| !left_out.has(&node.name), &mut allowance)?)
        }
        None => Cow::Borrowed(def),
    };
    let def = &*def;
    let nodes = functions::flatten(def, registry, &mut allowance)?;
    let (functions, renames) = functions::bodies(graph, def, options, nodes.len())?;
    let imported = import_flat(graph, def, nodes, allowance, options, &renames, finish)?;
    functions.into_iter().try_for_each(|function| graph.add_function(function))?;
    graph.add_absent(left_out.into_iter().flat_map(|l| l.under(&imported.prefix)));
    Ok(imported)
}

/// Returns a copy of the message with some of its nodes.
pub(crate) fn with_nodes(
    def: &GraphDef,
    keep: impl Fn(&NodeDef) -> bool,
    allowance: &mut Allowance,
) -> Result<GraphDef> {
    let kept = def.node.iter().filter(|node| keep(node)).map(|node| {
        allowance.take(encoded_len(node), COPY)?;
        Ok(node.clone())
    });
    let node = kept.collect::<Result<_>>()?;
    if let Some(library) = &def.library {
        allowance.take(encoded_len(library), COPY)?;
    }
    let (library, versions) = (def.library.clone(), def.versions.clone());
    Ok(GraphDef { node, library, versions, version: def.version, ..GraphDef::default() })
}

/// The bytes that a message takes in memory for each of its bytes in a file: names and numbers have headers
/// there.
const COPY: usize = 2;

/// Returns the entry of `map` that replaces an input, whose text is `text`.
pub(crate) fn mapped<'m>(
    map: &'m BTreeMap<String, Port>,
    text: &str,
    input: Input,
) -> Option<(&'m String, &'m Port)> {
    map.get_key_value(text).or_else(|| match input {
        Input::Data(name, 0) => map.get_key_value(name).or_else(|| map.get_key_value(&format!("{name}:0"))),
        _ => None,
    })
}

/// Imports nodes without calls. `renames` are the graph's names of the functions that nodes refer to.
pub(crate) fn import_flat(
    graph: &Graph,
    def: &GraphDef,
    nodes: Vec<Flat>,
    allowance: Allowance,
    options: &ImportOptions,
    renames: &Renames,
    finish: impl FnOnce(&Imported, &Program) -> Result<()>,
) -> Result<Imported> {
    let registry = graph.registry();
    let wiring = Wiring::of(&nodes, registry, &options.input_map)?;
    let order = wiring.order(&nodes)?;
    // Shape inference and constant folding allocate too.
    let limit = budget::Budget::new(options.memory_limit);
    let _entered = budget::enter_until(Some(&limit), options.deadline);
    let mark = graph.mark();
    let mut import = Import {
        graph,
        registry,
        options,
        prefix: prefix(graph, &options.prefix),
        producer: def.versions.as_ref().map_or(def.version, |v| v.producer),
        producer_ops: producer_attrs(options.producer_ops.as_ref()),
        allowance,
        renames,
        ids: vec![None; nodes.len()],
        made: Vec::with_capacity(nodes.len()),
        here: false,
    };
    let n_contexts = graph.read(|g| g.contexts().len());
    let result = import.run(&nodes, &wiring, &order, finish);
    match &result {
        Ok(_) => contexts::collect(graph, n_contexts),
        Err(_) => graph.take_back(mark, &import.made),
    }
    result
}

fn check_versions(def: &GraphDef) -> Result<()> {
    let Some(versions) = &def.versions else { return Ok(()) };
    let VersionDef { producer, min_consumer, bad_consumers } = versions;
    ensure!(
        *min_consumer <= PRODUCER,
        "GraphDef min consumer version {min_consumer} above current version {PRODUCER} for TensorFlow 1.15.5.  Please upgrade TensorFlow.";
        "the graph (producer version {producer}) asks for a reader of version {min_consumer}, and this one has version {PRODUCER}, as TensorFlow 1.15.5 has"
    );
    ensure!(
        *producer >= 0,
        "GraphDef producer version {producer} below min producer 0 supported by TensorFlow 1.15.5.  Please regenerate your graph.";
        "`versions.producer` of the graph is {producer}"
    );
    ensure!(
        !bad_consumers.contains(&PRODUCER),
        "GraphDef disallows consumer version {PRODUCER}.  Please upgrade TensorFlow: this version is likely buggy.";
        "the graph (producer version {producer}) excludes readers of version {PRODUCER}, which this one has, as TensorFlow 1.15.5 has"
    );
    Ok(())
}

fn prefix(graph: &Graph, wanted: &str) -> String {
    match wanted {
        "" => String::new(),
        exact if exact.ends_with('/') => exact.to_owned(),
        name => graph.unique_name(name) + "/",
    }
}

type ProducerAttrs<'a> = HashMap<(&'a str, &'a str), &'a AttrValue>;

fn producer_attrs(ops: Option<&OpList>) -> ProducerAttrs<'_> {
    let ops = ops.into_iter().flat_map(|list| &list.op);
    ops.flat_map(|op| op.attr.iter().map(move |attr| (op, attr)))
        .filter_map(|(op, attr)| Some(((op.name.as_str(), attr.name.as_str()), attr.default_value.as_ref()?)))
        .collect()
}

/// The source of an input.
#[derive(Clone, Copy)]
enum Source {
    /// Output `1` of node `0` of the message.
    Here(u32, u32),
    /// A value of the graph.
    Mapped(Port),
    /// A back edge from output `1` of node `0`, which is closed last.
    Back(u32, u32),
}

#[derive(Clone, Copy)]
enum Before {
    Here(u32),
    Mapped(NodeId),
}

/// The nodes' inputs, resolved.
struct Wiring<'a> {
    inputs: Vec<Vec<Source>>,
    controls: Vec<Vec<Before>>,
    by_name: HashMap<&'a str, u32>,
}

impl<'a> Wiring<'a> {
    fn of(nodes: &'a [Flat], registry: &Registry, map: &BTreeMap<String, Port>) -> Result<Wiring<'a>> {
        ensure!(nodes.len() < u32::MAX as usize, "a graph may have at most 2^32 - 1 nodes");
        let mut by_name = HashMap::with_capacity(nodes.len());
        for (i, node) in nodes.iter().enumerate() {
            check_name(&node.name)?;
            if by_name.insert(&*node.name, i as u32).is_some() {
                return Err(invalid!(
                    "Node '{0}' is not unique: two nodes are named `{0}`",
                    short(&node.name)
                ));
            }
        }
        let mut wiring = Wiring {
            inputs: Vec::with_capacity(nodes.len()),
            controls: Vec::with_capacity(nodes.len()),
            by_name,
        };
        let mut used = HashSet::new();
        let role = |op: &str| registry.get(op).map(|def| def.role);
        for node in nodes {
            let to = role(&node.op);
            wiring.resolve(node, map, &mut used, |source| {
                let from = role(&nodes[source as usize].op);
                from.zip(to).is_some_and(|(from, to)| is_back_edge(from, to))
            })?;
        }
        wiring.check_map(map, &used, nodes, registry)?;
        Ok(wiring)
    }

    fn resolve<'m>(
        &mut self,
        node: &Flat,
        map: &'m BTreeMap<String, Port>,
        used: &mut HashSet<&'m str>,
        is_back: impl Fn(u32) -> bool,
    ) -> Result<()> {
        let at = |e: Error| e.at_node(&short(&node.name), &short(&node.op));
        let (mut inputs, mut controls) = (Vec::with_capacity(node.inputs.len()), Vec::new());
        for text in &node.inputs {
            let input = parse_input(text).map_err(at)?;
            let mapped = mapped(map, text, input);
            match input {
                Input::Data(name, index) => {
                    if !controls.is_empty() {
                        return Err(at(invalid!(
                            "Node '{}': Control dependencies must come after regular dependencies",
                            short(&node.name);
                            "the input `{}` comes after a control input",
                            short(text)
                        )
                        .with_help("control inputs (`^name`) come last")));
                    }
                    inputs.push(match mapped {
                        Some((key, port)) => {
                            used.insert(key);
                            Source::Mapped(*port)
                        }
                        None => {
                            let source = self.find(&node.name, name, text).map_err(at)?;
                            match is_back(source) {
                                true => Source::Back(source, index),
                                false => Source::Here(source, index),
                            }
                        }
                    });
                }
                Input::Control(name) => controls.push(match mapped {
                    Some((key, port)) => {
                        used.insert(key);
                        Before::Mapped(port.node)
                    }
                    None => Before::Here(self.find(&node.name, name, text).map_err(at)?),
                }),
            }
        }
        self.inputs.push(inputs);
        self.controls.push(controls);
        Ok(())
    }

    fn find(&self, node: &str, name: &str, input: &str) -> Result<u32> {
        self.by_name.get(name).copied().ok_or_else(|| {
            invalid!(
                "Node '{}': Unknown input node '{}'",
                short(node),
                short(input);
                "its input `{}` is not in the graph",
                short(name)
            )
            .with_help("the graph may be cut off; or pass a value for it in `input_map`")
        })
    }

    /// Checks that every name in the map was used, or is at least the name of a value of the message.
    fn check_map(
        &self,
        map: &BTreeMap<String, Port>,
        used: &HashSet<&str>,
        nodes: &[Flat],
        registry: &Registry,
    ) -> Result<()> {
        let is_there = |key: &str| match parse_input(key)? {
            Input::Control(name) => Ok(self.by_name.contains_key(name)),
            Input::Data(name, index) => Ok::<_, Error>(self.by_name.get(name).is_some_and(|n| {
                let def = registry.get(&nodes[*n as usize].op);
                // The length of an output list is not known here.
                let one_each = def.is_some_and(|d| d.outputs.iter().all(|o| o.count == Count::One));
                !one_each || def.is_some_and(|d| (index as usize) < d.outputs.len())
            })),
        };
        let mut missing = Vec::new();
        for key in map.keys().filter(|key| !used.contains(key.as_str())) {
            if !is_there(key)? {
                let output = !key.starts_with('^') && !key.contains(':');
                missing.push(if output { format!("{key}:0") } else { key.clone() });
            }
        }
        ensure!(
            missing.is_empty(),
            "Attempted to map inputs that were not found in graph_def: [{}]",
            missing.join(", ")
        );
        Ok(())
    }

    /// Returns the nodes such that each comes after those that it depends on, back edges left out, and
    /// otherwise in the order of the message.
    fn order(&self, nodes: &[Flat]) -> Result<Vec<u32>> {
        let mut edges = Vec::with_capacity(2 * nodes.len());
        for n in 0..nodes.len() {
            edges.extend(self.before(n).map(|before| (before, n as u32)));
        }
        let name = |n: u32| short(&nodes[n as usize].name).into_owned();
        let at = |n: u32, e: Error| e.at_node(&name(n), &short(&nodes[n as usize].op));
        topological(nodes.len(), &edges, |_| 0).check(&edges, name, at)
    }

    fn before(&self, n: usize) -> impl Iterator<Item = u32> {
        let data = self.inputs[n].iter().filter_map(|s| match s {
            Source::Here(node, _) => Some(*node),
            Source::Mapped(_) | Source::Back(..) => None,
        });
        data.chain(self.controls[n].iter().filter_map(|c| match c {
            Before::Here(node) => Some(*node),
            Before::Mapped(_) => None,
        }))
    }
}

/// An import in progress.
struct Import<'a> {
    graph: &'a Graph,
    registry: &'static Registry,
    options: &'a ImportOptions,
    prefix: String,
    producer: i32,
    producer_ops: ProducerAttrs<'a>,
    allowance: Allowance,
    renames: &'a Renames,
    /// The nodes made so far, by position in the message.
    ids: Vec<Option<NodeId>>,
    made: Vec<NodeId>,
    /// Whether the nodes become part of the loop or branch that is being built. They do if they contain no
    /// control flow.
    here: bool,
}

impl Import<'_> {
    fn run(
        &mut self,
        nodes: &[Flat],
        wiring: &Wiring,
        order: &[u32],
        finish: impl FnOnce(&Imported, &Program) -> Result<()>,
    ) -> Result<Imported> {
        self.here = self.graph.current_context().is_some() && !self.has_flow(nodes);
        for &n in order {
            let node = &nodes[n as usize];
            let at = |e: Error| e.at_node(&short(&node.name), &short(&node.op));
            let id = self.make(node, &wiring.inputs[n as usize], &wiring.controls[n as usize]).map_err(at)?;
            self.ids[n as usize] = Some(id);
            self.made.push(id);
            self.refine(node, id).map_err(at)?;
        }
        self.close(nodes, wiring)?;
        self.allowance.look()?;
        let elements: Result<_> =
            self.options.return_elements.iter().map(|e| self.element(e, wiring)).collect();
        // A loop that is still being built is no valid program yet.
        let whole = if self.here { &[][..] } else { &self.made[..] };
        let program = self.graph.read(|g| Program::of_nodes(g, whole))?;
        self.graph.infer_loops(&self.made);
        self.allowance.look()?;
        let imported =
            Imported { nodes: self.made.clone(), elements: elements?, prefix: self.prefix.clone() };
        finish(&imported, &program)?;
        contexts::recover(self.graph, &program, &imported.nodes)?;
        Ok(imported)
    }

    fn has_flow(&self, nodes: &[Flat]) -> bool {
        let role = |node: &Flat| self.registry.get(&node.op).map(|def| def.role);
        nodes
            .iter()
            .any(|n| matches!(role(n), Some(Role::Switch | Role::Merge | Role::Enter | Role::NextIteration)))
    }

    fn make(&mut self, node: &Flat, inputs: &[Source], controls: &[Before]) -> Result<NodeId> {
        let def = self.registry.get(&node.op);
        let def = def.ok_or_else(|| Error::unimplemented(format!("there is no op `{}`", short(&node.op))))?;
        let mut attrs = self.attrs(node, def)?;
        self.adapt(def, &mut attrs);
        self.rename(def, &mut attrs);
        // What the attributes claim is not a number of outputs that the node can have: making it says so.
        self.allowance.take(n_outputs(def, &attrs).unwrap_or(0).min(1 << 16), OUTPUT)?;
        self.allowance.take(3 * (self.prefix.len() + node.name.len()), 1)?;
        let graph = self.graph;
        let mut name = format!("{}{}", self.prefix, node.name);
        if self.options.unique_names && graph.find(&name).is_some() {
            name = graph.in_scope(String::new(), || graph.unique_name(&name));
        }
        let sources = inputs.iter().map(|source| match *source {
            Source::Here(n, index) => self.id(n).map(|id| Some(Port::new(id, index))),
            Source::Mapped(port) => Ok(Some(port)),
            Source::Back(..) => Ok(None),
        });
        let sources = sources.collect::<Result<Vec<_>>>()?;
        signature::check(graph, (&*node.name, &*self.prefix), def, &attrs, &sources)?;
        let builder = graph.op(def.name).name(name).attrs(attrs);
        let mut builder = if self.here { builder.exact_here() } else { builder.exact() };
        for source in inputs {
            builder = match *source {
                Source::Here(n, index) => builder.input(Output::new(graph, Port::new(self.id(n)?, index))),
                Source::Mapped(port) => builder.input(Output::new(graph, port)),
                Source::Back(..) => builder.input(Arg::open()),
            };
        }
        if inputs.iter().all(|s| matches!(s, Source::Back(..))) && !inputs.is_empty() {
            return Err(invalid!("all inputs of the Merge are back edges; nothing ever enters the loop"));
        }
        let mut before = Unique::new();
        for control in controls {
            before.add(match *control {
                Before::Here(n) => self.id(n)?,
                Before::Mapped(id) => id,
            });
        }
        let depends = inputs.iter().any(|s| !matches!(s, Source::Mapped(_)))
            || controls.iter().any(|c| matches!(c, Before::Here(_)));
        if !depends {
            before.extend(self.options.control_dependencies.iter().copied());
        }
        for id in before.into_items() {
            builder = builder.control(Op::new(graph, id));
        }
        if !node.device.is_empty() {
            builder = builder.device(&node.device);
        }
        Ok(builder.try_finish()?.id())
    }

    /// Gives the functions that a node refers to the names that they have in the graph.
    fn rename(&self, def: &OpDef, attrs: &mut Attrs) {
        for (name, spec) in &def.attrs {
            let renamed = match (spec.kind, attrs.get(name)) {
                (AttrKind::Func, Some(attr)) => self.renamed(attr),
                (AttrKind::FuncList, Some(Attr::List(list))) => {
                    Attr::List(list.iter().map(|attr| self.renamed(attr)).collect())
                }
                _ => continue,
            };
            attrs.set(*name, renamed);
        }
    }

    fn renamed(&self, attr: &Attr) -> Attr {
        match attr {
            Attr::Func(f) => match self.renames.get(&f.name) {
                Some(name) => Attr::Func(FuncRef { name: name.clone(), attrs: Attrs::new() }),
                None => attr.clone(),
            },
            _ => attr.clone(),
        }
    }

    fn id(&self, n: u32) -> Result<NodeId> {
        let id = self.ids.get(n as usize).copied().flatten();
        id.ok_or_else(|| Error::internal("a node is imported before its input"))
    }

    /// Returns the attributes that the op knows, and those that start with `_`. Others are left out if they
    /// have their default, since graphs of newer producers have attributes that older readers do not know.
    fn attrs(&mut self, node: &Flat, def: &OpDef) -> Result<Attrs> {
        let mut kept = Attrs::new();
        // A descriptive name that only newer versions of TensorFlow know, and that older ones refuse to read.
        for (name, value) in node.attrs.iter().filter(|(name, _)| *name != "debug_name") {
            let note = |e: Error| e.note(format!("in attribute `{}`", short(name)));
            match def.attr_spec(name) {
                Some(spec) => {
                    ensure!(
                        attrs::fits(value, spec.kind),
                        "AttrValue had value with type '{}' when '{}' expected\n\t for attr '{name}'",
                        signature::kind_of(value),
                        definitions::kind_name(spec.kind);
                        "{}: attribute `{name}` is not {:?}",
                        def.name,
                        spec.kind
                    );
                    let value = attrs::decode(value, &mut self.allowance).map_err(note)?;
                    signature::check_length((&*node.name, &*self.prefix), def, name, spec.kind, &value)?;
                    kept.set(name.clone(), value);
                }
                None if name.starts_with('_') => {
                    // Such attributes are hints. One that cannot be decoded is left out; running out of
                    // memory is an error.
                    match attrs::decode(value, &mut self.allowance) {
                        Ok(value) => kept.set(name.clone(), value),
                        Err(e) if e.code() == Code::ResourceExhausted => return Err(note(e)),
                        Err(_) => {}
                    }
                }
                None => {
                    let default = self.producer_ops.get(&(def.name, name.as_str()));
                    if !default.is_some_and(|d| *d == value) && !attrs::is_zero(value) {
                        return Err(unknown_attr(def, name));
                    }
                }
            }
        }
        Ok(kept)
    }

    /// Adapts the attributes of old producers, and names that the prefix changes.
    fn adapt(&self, def: &OpDef, attrs: &mut Attrs) {
        if def.role == Role::Placeholder
            && self.producer < EMPTY_SHAPE_IS_SCALAR
            && attrs.shape("shape").is_ok_and(|s| s.rank() == Some(0))
        {
            attrs.set("shape", PartialShape::unknown());
        }
        if self.prefix.is_empty() {
            return;
        }
        if def.role == Role::Enter
            && let Ok(frame) = attrs.str("frame_name")
            && !frame.is_empty()
        {
            attrs.set("frame_name", format!("{}{}", self.prefix, frame.text()));
        }
        if let Some(Attr::List(classes)) = attrs.get("_class") {
            let renamed = classes.iter().map(|c| match c {
                Attr::Str(c) => Attr::Str(colocated(c, &self.prefix)),
                other => other.clone(),
            });
            attrs.set("_class", Attr::List(renamed.collect()));
        }
    }

    /// Applies the shapes of outputs that the producer recorded, except those of handles: TensorFlow records
    /// those of TensorArrays as vectors, as they once were.
    fn refine(&self, node: &Flat, id: NodeId) -> Result<()> {
        if !node.attrs.contains_key("_output_shapes") {
            return Ok(());
        }
        let shapes: Vec<PartialShape> = self.graph.read(|g| {
            let node = g.node(id)?;
            let Ok(shapes) = node.info.attrs.shapes("_output_shapes") else { return Ok(Vec::new()) };
            Ok::<_, Error>(shapes.into_iter().take(node.info.output_types.len()).cloned().collect())
        })?;
        for (i, shape) in shapes.iter().enumerate() {
            let handle = |g: &GraphData| {
                g.type_of(Port::new(id, i as u32)).is_ok_and(|ty| ty.dtype == DType::Resource)
            };
            if self.graph.read(handle) {
                continue;
            }
            let refined = self.graph.refine_shape(Port::new(id, i as u32), shape);
            if self.producer >= OUTPUT_SHAPES_HOLD {
                refined.map_err(|e| e.note("in attribute `_output_shapes`"))?;
            }
        }
        Ok(())
    }

    fn close(&self, nodes: &[Flat], wiring: &Wiring) -> Result<()> {
        for (n, inputs) in wiring.inputs.iter().enumerate() {
            for source in inputs {
                if let Source::Back(next, index) = *source {
                    let merge = Op::new(self.graph, self.id(n as u32)?);
                    let value = Output::new(self.graph, Port::new(self.id(next)?, index));
                    self.graph
                        .close_back_edge(merge, value)
                        .map_err(|e| e.at_node(&short(&nodes[n].name), &short(&nodes[n].op)))?;
                }
            }
        }
        Ok(())
    }

    fn element(&self, text: &str, wiring: &Wiring) -> Result<Element> {
        if let Some(port) = self.options.input_map.get(text) {
            return Ok(Element::Output(*port));
        }
        let found = |name: &str, what: &str| {
            let id = wiring.by_name.get(name).copied();
            let id = id.ok_or_else(|| {
                invalid!("Requested return {what} '{}' not found in graph def", short(text))
                    .with_help("`return_elements` are names of the graph to import, without what `name` puts before them")
            })?;
            self.id(id)
        };
        let Some((name, index)) = text.split_once(':') else {
            return Ok(Element::Op(found(text, "node")?));
        };
        let index: u32 =
            index.parse().map_err(|_| invalid!("Cannot convert '{}' to a tensor name.", short(text)))?;
        let port = Port::new(found(name, "tensor")?, index);
        let n = self.graph.read(|g| g.node(port.node).map(|n| n.info.output_types.len()))?;
        ensure!(
            (index as usize) < n,
            "Invalid return output {index} of node '{}', which has {n} output(s)",
            short(name)
        );
        Ok(Element::Output(port))
    }
}

fn unknown_attr(def: &OpDef, name: &str) -> Error {
    let known: Vec<_> = def.attrs.iter().map(|(n, _)| format!("`{n}`")).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    invalid!("{} has no attribute `{}`; it has {known}", def.name, short(name))
        .with_help("the graph was written by a newer version and uses a feature that this op lacks here")
}

/// Returns `loc:@name` with the name under a prefix.
fn colocated(class: &Str, prefix: &str) -> Str {
    match class.strip_prefix(b"loc:@".as_slice()) {
        Some(name) => [b"loc:@", prefix.as_bytes(), name].concat().into(),
        None => class.clone(),
    }
}
