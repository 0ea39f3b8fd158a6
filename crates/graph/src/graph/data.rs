//! Access to the contents of a graph: names, types, shapes, known values, contexts, collections, and open
//! blocks.

use super::{CollectionItem, ControlScope, GraphData};
use crate::attr::ValueType;
use crate::context::{Context, ContextId, ContextKind, WhileContext};
use crate::ids::{NodeId, Port};
use crate::imported::Absent;
use crate::node::Node;
use crate::op::{HandleShape, Known, Registry, similar};
use crate::unique::Unique;
use millstream_tensor::{Error, PartialShape, Result, Tensor, invalid};
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The nodes whose names are compared with a name that does not exist. A comparison takes about a
/// microsecond.
const MOST_COMPARED: usize = 20_000;

impl GraphData {
    /// The functions of the library, in the order of their names.
    pub fn functions(&self) -> impl Iterator<Item = &crate::Function> {
        self.functions.values().map(|function| &**function)
    }

    /// The op types that the graph can hold.
    pub fn registry(&self) -> &'static Registry {
        self.registry
    }

    /// The node list.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The contexts.
    pub fn contexts(&self) -> &[Context] {
        &self.contexts
    }

    /// The collections.
    pub fn collections(&self) -> &BTreeMap<String, Vec<CollectionItem>> {
        &self.collections
    }

    /// The graph-level seed.
    pub(crate) fn seed(&self) -> Option<i64> {
        self.seed
    }

    /// Sets the graph-level seed.
    pub(crate) fn set_seed(&mut self, seed: Option<i64>) {
        self.seed = seed;
    }

    /// Whether adding a node is an error.
    pub(crate) fn is_finalized(&self) -> bool {
        self.finalized
    }

    /// Makes adding a node an error from now on.
    pub(crate) fn set_finalized(&mut self) {
        self.finalized = true;
    }

    /// Takes a name, so that no later node gets it.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.names.entry(name.to_lowercase()).or_insert(1);
    }

    /// The number of edits of existing nodes. If it and the length are the same, the graph has not changed.
    pub fn edits(&self) -> u64 {
        self.edits
    }

    /// A node by id.
    pub fn node(&self, id: NodeId) -> Result<&Node> {
        self.nodes.get(id.index()).ok_or_else(|| {
            invalid!("this value belongs to a node that could not be built")
                .with_help("fix the first error reported")
        })
    }

    /// The nodes that an import left out, by name: see [`Graph::add_absent`](crate::Graph::add_absent).
    pub fn absent(&self) -> &BTreeMap<String, Arc<Absent>> {
        &self.absent
    }

    /// A node by name. `NOT_FOUND` if there is none, `UNIMPLEMENTED` if an import left it out.
    pub fn find(&mut self, name: &str) -> Result<NodeId> {
        while self.indexed < self.nodes.len() {
            let name: Arc<str> = self.nodes[self.indexed].name().into();
            self.by_name.insert(name, NodeId(self.indexed as u32));
            self.indexed += 1;
        }
        self.by_name.get(name).copied().ok_or_else(|| match self.absent.get(name) {
            Some(absent) => absent.error(name),
            None => Error::new(millstream_tensor::Code::NotFound, format!("the graph has no node `{name}`")),
        })
    }

    /// The error for a name that does not exist, with the names of similar nodes.
    pub(crate) fn with_similar(&self, error: Error, name: &str) -> Error {
        match self.similar(name.rsplit_once(':').map_or(name, |(node, _)| node)).as_slice() {
            near if error.code() != millstream_tensor::Code::NotFound || near.is_empty() => error,
            near => error.with_help(format!("did you mean {}?", near.join(", "))),
        }
    }

    /// The names of nodes most similar to a misspelt one, best first, each in backquotes. Of a large graph,
    /// the first nodes are compared.
    pub fn similar(&self, name: &str) -> Vec<String> {
        let names = self.nodes.iter().take(MOST_COMPARED).map(Node::name).filter(|n| n.len() <= 256);
        similar(name, names).into_iter().map(|n| format!("`{n}`")).collect()
    }

    /// An output by name: `node:0`, or `node` for its first output.
    pub fn find_port(&mut self, name: &str) -> Result<Port> {
        let (node, index) = match name.rsplit_once(':') {
            Some((node, index)) if !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) => {
                (node, index.parse::<u32>().map_err(|_| invalid!("`{name}` is not the name of an output"))?)
            }
            _ => (name, 0),
        };
        let id = self.find(node)?;
        let n = self.nodes[id.index()].info.output_types.len();
        if index as usize >= n {
            return Err(invalid!("node `{node}` has {n} outputs; there is no `{name}`"));
        }
        Ok(Port::new(id, index))
    }

    /// The type of an output.
    pub fn type_of(&self, port: Port) -> Result<ValueType> {
        let node = self.node(port.node)?;
        node.info.output_types.get(port.index as usize).copied().ok_or_else(|| {
            invalid!(
                "node `{}` has {} outputs, not {}",
                node.name(),
                node.info.output_types.len(),
                port.index + 1
            )
        })
    }

    /// The static shape of an output.
    pub fn shape_of(&self, port: Port) -> PartialShape {
        let node = self.nodes.get(port.node.index());
        node.and_then(|n| n.shapes.get(port.index as usize)).cloned().unwrap_or_default()
    }

    /// The known part of the value of an output.
    pub fn known(&self, port: Port) -> Option<&Known> {
        self.nodes.get(port.node.index())?.known.get(port.index as usize)?.as_deref()
    }

    /// The value of an output, if all of it is known.
    pub fn known_value(&self, port: Port) -> Option<Tensor> {
        match self.known(port)? {
            Known::Value(value) => Some(value.clone()),
            Known::Partial { .. } | Known::Handle(_) => None,
        }
    }

    /// The type of the values in the resource that an output refers to, if it is known.
    pub fn known_handle(&self, port: Port) -> Option<HandleShape> {
        match self.known(port)? {
            Known::Handle(handle) => Some(handle.clone()),
            Known::Value(_) | Known::Partial { .. } => None,
        }
    }

    /// Drops the index of names, after nodes were removed. The next lookup rebuilds it.
    pub(crate) fn forget_names(&mut self) {
        self.by_name.clear();
        self.indexed = 0;
        self.edits += 1;
    }

    /// A unique name in the current scope, counted without regard to case, like TensorFlow's `unique_name`.
    pub(crate) fn unique_name(&mut self, name: &str) -> String {
        let name = format!("{}{}", self.blocks.scope, name);
        let key = name.to_lowercase();
        let Some((i, numbered)) = self.next_number(&key) else {
            self.names.insert(key, 1);
            return name;
        };
        self.names.insert(numbered, 1);
        self.names.insert(key, i + 1);
        format!("{name}_{i}")
    }

    /// The name that [`GraphData::unique_name`] would return, without taking it.
    pub(crate) fn free_name(&self, name: &str) -> String {
        let name = format!("{}{}", self.blocks.scope, name);
        match self.next_number(&name.to_lowercase()) {
            Some((i, _)) => format!("{name}_{i}"),
            None => name,
        }
    }

    /// The next free number for a taken key, and the key with that number. `None` if the key itself is free.
    fn next_number(&self, key: &str) -> Option<(u32, String)> {
        let mut i = *self.names.get(key)?;
        loop {
            let numbered = format!("{key}_{i}");
            if !self.names.contains_key(&numbered) {
                return Some((i, numbered));
            }
            i += 1;
        }
    }

    /// Adds a context.
    pub(crate) fn add_context(&mut self, context: Context) -> ContextId {
        let id = ContextId(self.contexts.len() as u32);
        self.contexts.push(context);
        id
    }

    /// Moves a node into a context.
    pub(crate) fn set_context(&mut self, node: NodeId, context: ContextId) {
        if let Some(node) = self.nodes.get_mut(node.index()) {
            node.context = Some(context);
        }
    }

    /// Sets the context of new nodes.
    pub(crate) fn set_current(&mut self, context: Option<ContextId>) {
        self.current = context;
    }

    /// The context around a context.
    pub(crate) fn context_parent(&self, id: ContextId) -> Option<ContextId> {
        self.contexts[id.0 as usize].parent
    }

    /// Edits the context of a loop.
    pub(crate) fn edit_while(&mut self, id: ContextId, edit: impl FnOnce(&mut WhileContext)) {
        if let ContextKind::While(w) = &mut self.contexts[id.0 as usize].kind {
            edit(w);
        }
    }

    /// Adds an entry to a collection.
    pub(crate) fn collect(&mut self, name: &str, item: CollectionItem) {
        self.collections.entry(name.to_owned()).or_default().push(item);
    }

    /// Opens the last input of a Merge, to be closed by a back edge.
    pub(crate) fn open_back_edge(&mut self, merge: NodeId) {
        if let Some(last) = self.nodes.get_mut(merge.index()).and_then(|n| n.inputs.last_mut()) {
            *last = Port::OPEN;
        }
    }

    /// Closes the open input of a Merge.
    pub(crate) fn close_merge(&mut self, merge: NodeId, next: Port) -> Result<()> {
        let node = self.node(merge)?;
        let open = node.inputs.iter().position(|p| *p == Port::OPEN);
        let open = open.ok_or_else(|| invalid!("`{}` has no open back edge", node.name()))?;
        self.nodes[merge.index()].inputs[open] = next;
        self.edits += 1;
        Ok(())
    }

    /// The current name scope, with its closing `/` unless empty.
    pub(crate) fn current_scope(&self) -> &str {
        &self.blocks.scope
    }

    /// Runs `build` with names under `scope`.
    pub(crate) fn with_scope<R>(&mut self, scope: String, build: impl FnOnce(&mut Self) -> R) -> R {
        let old = std::mem::replace(&mut self.blocks.scope, scope);
        let result = build(self);
        self.blocks.scope = old;
        result
    }

    /// Merges `shape` into the static shape of an output.
    pub(crate) fn merge_shape(&mut self, port: Port, shape: &PartialShape) -> Result<()> {
        let node = self.node(port.node)?;
        let old = self.shape_of(port);
        let merged = old.merge(shape).ok_or_else(|| {
            invalid!("`{}` has shape {old}, which contradicts {shape}", node.name()).at_line(node.at)
        })?;
        let declared = self.declared.entry(port).or_default();
        *declared = declared.merge(shape).unwrap_or_else(|| shape.clone());
        self.nodes[port.node.index()].shapes[port.index as usize] = merged;
        Ok(())
    }

    /// Replaces the static shape of an output. Loop builders relax shapes that they set earlier.
    pub(crate) fn set_shape(&mut self, port: Port, shape: PartialShape) {
        if let Some(node) = self.nodes.get_mut(port.node.index()) {
            node.shapes[port.index as usize] = shape;
        }
    }

    /// Adds a control input to a node, unless the node has it.
    pub(crate) fn add_control(&mut self, op: NodeId, before: NodeId) {
        /// As many are compared one by one.
        const FEW: usize = 16;
        let controls = &mut self.nodes[op.index()].controls;
        if controls.len() < FEW {
            if !controls.contains(&before) {
                controls.push(before);
            }
            return;
        }
        let set = self.many_controls.entry(op).or_default();
        if set.len() != controls.len() {
            set.clear();
            controls.retain(|control| set.insert(*control));
        }
        if set.insert(before) {
            controls.push(before);
        }
    }

    /// The control inputs that open blocks add to a new node. As in TensorFlow, a block adds none if an input
    /// of the node was made inside it.
    pub(crate) fn scope_controls(&self, inputs: &[Port]) -> SmallVec<[NodeId; 2]> {
        let open = self.blocks.controls.iter();
        let open = open.filter(|block| !inputs.iter().any(|p| block.seen.contains(&p.node)));
        let controls: Unique<NodeId> = open.flat_map(|block| block.inputs.iter().copied()).collect();
        let mut controls = controls.into_items();
        if !controls.is_empty() {
            let inputs: HashSet<NodeId> = inputs.iter().map(|p| p.node).collect();
            controls.retain(|c| !inputs.contains(c));
        }
        controls
    }

    /// Records in the open `control_dependencies` blocks that this node runs after their inputs.
    pub(crate) fn note_seen(&mut self, id: NodeId) {
        for block in &mut self.blocks.controls {
            block.seen.insert(id);
        }
    }

    /// Opens a `control_dependencies` block.
    pub(crate) fn push_controls(&mut self, inputs: Vec<NodeId>) {
        self.blocks.controls.push(ControlScope { inputs, seen: Default::default() });
    }

    /// Closes the innermost block.
    pub(crate) fn pop_controls(&mut self) {
        self.blocks.controls.pop();
    }

    /// Sets the name scope and returns the previous one.
    pub(crate) fn replace_scope(&mut self, scope: String) -> String {
        std::mem::replace(&mut self.blocks.scope, scope)
    }

    /// Sets the device of new nodes and returns the previous one.
    pub(crate) fn replace_device(&mut self, device: Arc<str>) -> Arc<str> {
        std::mem::replace(&mut self.blocks.device, device)
    }

    /// Suspends the open `control_dependencies` blocks, until [`GraphData::restore_controls`].
    pub(crate) fn take_controls(&mut self) -> Vec<ControlScope> {
        std::mem::take(&mut self.blocks.controls)
    }

    /// Resumes suspended blocks.
    pub(crate) fn restore_controls(&mut self, controls: Vec<ControlScope>) {
        self.blocks.controls = controls;
    }
}
