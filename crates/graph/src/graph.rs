//! [`Graph`]: nodes in the order they were made. Append-only but for back edges, control inputs and what is known of shapes.

use crate::attr::{Attr, Attrs, ValueType};
use crate::blocks::{Blocks, Parked};
use crate::builder::{Arg, ArgKind};
use crate::context::{Context, ContextId, ContextKind, WhileContext};
use crate::ids::{NodeId, Port};
use crate::node::Node;
use crate::op::{GradientFn, HandleShape, InferCx, Known, NodeInfo, Registry, Role, check_attr};
use crate::output::{Op, Output};
use millstream_tensor::{DType, Error, PartialShape, Result, Tensor, invalid};
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use std::panic::Location;
use std::sync::Arc;

/// A graph under construction, shared by its clones. Threads may build at the same time. Name scopes are the thread's; control dependencies,
/// devices and the like are the graph's until [`Graph::switch_to_thread_local`]; the loop or branch being built is the graph's.
///
/// Adding a node never fails in the middle of an expression: the first mistake is remembered with the line that made it
/// and is returned by the next call that gives a `Result`, [`Graph::check`] for one.
#[derive(Clone)]
pub struct Graph(Arc<Mutex<GraphData>>);

/// An entry of a collection.
#[derive(Clone)]
pub enum CollectionItem {
    /// A node or one of its outputs, by name (`v`, `v:0`).
    Node(String),
    /// Any bytes: an encoded message.
    Bytes(Vec<u8>),
    /// An int.
    Int(i64),
    /// A float.
    Float(f32),
    /// A loop or branch: the entries of `while_context` and `cond_context`.
    Context(ContextId),
}

/// What a graph holds. Reached through [`Graph::read`].
pub struct GraphData {
    registry: &'static Registry,
    pub(crate) nodes: Vec<Node>,
    /// How often each name was asked for, by lower-cased name: names differ by more than case, as files made of them must.
    names: HashMap<String, u32>,
    /// Nodes by name; holds the first `indexed` nodes, the rest is added when a name is looked up.
    by_name: HashMap<Arc<str>, NodeId>,
    indexed: usize,
    /// The open blocks of the thread that holds the lock.
    pub(crate) blocks: Blocks,
    pub(crate) parked: Parked,
    pub(crate) contexts: Vec<Context>,
    pub(crate) current: Option<ContextId>,
    collections: BTreeMap<String, Vec<CollectionItem>>,
    seed: Option<i64>,
    error: Option<Error>,
    finalized: bool,
    /// The line that nodes are made at, whatever the code that makes them says.
    line: Option<&'static Location<'static>>,
    /// What others keep with the graph, one of each type.
    extensions: HashMap<std::any::TypeId, Arc<dyn std::any::Any + Send + Sync>>,
    /// What was declared of shapes (`set_shape`), beside what was inferred.
    pub(crate) declared: HashMap<Port, PartialShape>,
    /// Gradients by name: what nodes with the attribute `_gradient_op_type` are differentiated by.
    gradients: HashMap<String, GradientFn>,
    /// Counts changes to what is already there (back edges, control inputs), for those who cache by length.
    edits: u64,
}

/// A `control_dependencies` block.
#[derive(Clone)]
pub(crate) struct ControlScope {
    inputs: Vec<NodeId>,
    /// Nodes made inside: whoever takes one as input already runs after `inputs`.
    seen: std::collections::HashSet<NodeId>,
}

/// How a new node gets its name.
#[derive(Clone)]
pub(crate) enum Naming {
    /// Unique in the current scope.
    Scoped(String),
    /// Exactly this; taken already is an error.
    Exact(String),
    /// This, already reserved.
    Reserved(String),
}

/// A node about to be made.
pub(crate) struct NodeSpec {
    pub op: String,
    pub naming: Naming,
    pub inputs: SmallVec<[Port; 2]>,
    pub controls: SmallVec<[NodeId; 2]>,
    pub attrs: Attrs,
    pub context: Option<ContextId>,
    pub device: Option<Arc<str>>,
    pub at: &'static Location<'static>,
}

impl NodeSpec {
    #[track_caller]
    pub(crate) fn new(op: impl Into<String>, naming: Naming) -> NodeSpec {
        NodeSpec {
            op: op.into(),
            naming,
            inputs: SmallVec::new(),
            controls: SmallVec::new(),
            attrs: Attrs::new(),
            context: None,
            device: None,
            at: Location::caller(),
        }
    }

    pub(crate) fn inputs(mut self, inputs: impl IntoIterator<Item = Port>) -> Self {
        self.inputs = inputs.into_iter().collect();
        self
    }

    pub(crate) fn attrs(mut self, attrs: Attrs) -> Self {
        self.attrs = attrs;
        self
    }

    pub(crate) fn context(mut self, context: Option<ContextId>) -> Self {
        self.context = context;
        self
    }

    pub(crate) fn at(mut self, at: &'static Location<'static>) -> Self {
        self.at = at;
        self
    }
}

impl Graph {
    /// An empty graph over a library of op types.
    pub fn with_ops(registry: &'static Registry) -> Graph {
        Graph(Arc::new(Mutex::new(GraphData {
            registry,
            nodes: Vec::new(),
            names: HashMap::new(),
            by_name: HashMap::new(),
            indexed: 0,
            blocks: Blocks::default(),
            parked: Parked::default(),
            contexts: Vec::new(),
            current: None,
            collections: BTreeMap::new(),
            seed: None,
            error: None,
            finalized: false,
            line: None,
            extensions: HashMap::new(),
            declared: HashMap::new(),
            gradients: HashMap::new(),
            edits: 0,
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, GraphData> {
        let mut g = self.0.lock();
        g.change_thread();
        g
    }

    /// Looks at the graph as it is now. `look` must not call methods of the graph.
    pub fn read<R>(&self, look: impl FnOnce(&GraphData) -> R) -> R {
        look(&self.lock())
    }

    /// What the open blocks of control dependencies ask for, all together.
    pub fn current_controls(&self) -> Vec<NodeId> {
        let g = self.lock();
        let mut all: Vec<NodeId> = Vec::new();
        for id in g.blocks.controls.iter().flat_map(|block| &block.inputs) {
            if !all.contains(id) {
                all.push(*id);
            }
        }
        all
    }

    /// Whether both are the same graph.
    pub fn same(&self, other: &Graph) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The op types that the graph can hold.
    pub fn registry(&self) -> &'static Registry {
        self.lock().registry
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.lock().nodes.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first mistake made since the last call, if any.
    pub fn check(&self) -> Result<()> {
        match self.lock().error.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Remembers a mistake for the next call that gives a `Result`; the first one counts.
    pub fn remember(&self, error: Error) {
        self.lock().error.get_or_insert(error);
    }

    /// Runs `build` with names prefixed by `name/` (made unique, as TensorFlow does). A name that ends in `/` is a scope to re-enter.
    pub fn name_scope<R>(&self, name: &str, build: impl FnOnce() -> R) -> R {
        let _within = self.enter_name_scope(name);
        build()
    }

    /// Runs `build` with names prefixed by exactly `scope` (empty, or ending in `/`): re-enters a scope.
    pub fn in_scope<R>(&self, scope: String, build: impl FnOnce() -> R) -> R {
        let _within = self.enter_scope(scope);
        build()
    }

    /// Names a gradient: nodes whose attribute `_gradient_op_type` is this name are differentiated by it, whatever their op says. Under the name of an op
    /// type that has no gradient of its own it is that of its nodes.
    pub fn register_gradient(&self, name: impl Into<String>, gradient: GradientFn) {
        self.lock().gradients.insert(name.into(), gradient);
    }

    /// The gradient with this name.
    pub fn registered_gradient(&self, name: &str) -> Option<GradientFn> {
        self.lock().gradients.get(name).cloned()
    }

    /// The current name scope, with its closing `/` unless empty.
    pub fn scope(&self) -> String {
        self.lock().blocks.scope.clone()
    }

    /// A name in the current scope that nobody else gets.
    pub fn unique_name(&self, name: &str) -> String {
        self.lock().unique_name(name)
    }

    /// Nodes made by `build` run after these operations (in a loop: in the same iteration; operations outside
    /// the loop run once, before it).
    pub fn control_dependencies<'g, R>(
        &'g self,
        ops: impl IntoIterator<Item = impl Into<Op<'g>>>,
        build: impl FnOnce() -> R,
    ) -> R {
        let _within = self.enter_control_dependencies(ops);
        build()
    }

    /// The loop or branch that is being built.
    pub fn current_context(&self) -> Option<ContextId> {
        self.lock().current
    }

    /// Nodes made from now on belong to this loop or branch, or to none: for those who leave one in the middle and come back.
    pub fn set_current_context(&self, context: Option<ContextId>) {
        self.lock().current = context;
    }

    /// Runs `build` inside of a loop or branch.
    pub(crate) fn in_context<R>(&self, context: ContextId, build: impl FnOnce() -> R) -> R {
        let old = self.lock().current.replace(context);
        let _back = OnDrop(|| self.lock().current = old);
        build()
    }

    /// Runs `build` outside of all control dependencies, loops and branches.
    pub fn without_control<R>(&self, build: impl FnOnce() -> R) -> R {
        let _within = self.enter_without_control();
        build()
    }

    /// Nodes made by `build` ask for this device.
    pub fn device<R>(&self, device: &str, build: impl FnOnce() -> R) -> R {
        let _within = self.enter_device(device);
        build()
    }

    /// The device that nodes made now ask for.
    pub fn current_device(&self) -> String {
        self.lock().blocks.device.to_string()
    }

    /// Nodes made by `build`, and the mistakes in it, are told to be of the line `at`: that of the call which stands for them all.
    pub fn built_at<R>(&self, at: &'static Location<'static>, build: impl FnOnce() -> R) -> R {
        // What calls something that does this too has the line already.
        let old = self.lock().line;
        self.lock().line = Some(old.unwrap_or(at));
        let _back = OnDrop(|| self.lock().line = old);
        build()
    }

    /// Within [`Graph::built_at`]: nodes made by `build`, which is the caller's own code, are of their own lines.
    pub fn built_where_it_stands<R>(&self, build: impl FnOnce() -> R) -> R {
        let old = self.lock().line.take();
        let _back = OnDrop(|| self.lock().line = old);
        build()
    }

    /// The line that a node is of, or a mistake: `at`, or the one that [`Graph::built_at`] says.
    pub fn line(&self, at: &'static Location<'static>) -> &'static Location<'static> {
        self.lock().line.unwrap_or(at)
    }

    /// The graph-level seed that random ops derive theirs from.
    pub fn set_seed(&self, seed: i64) {
        self.lock().seed = Some(seed);
    }

    /// The graph-level seed.
    pub fn seed(&self) -> Option<i64> {
        self.lock().seed
    }

    /// What a library above this one keeps with the graph (its scopes, say): one value of each type, made when first asked for.
    pub fn extension<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut g = self.lock();
        let value =
            g.extensions.entry(std::any::TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default())).clone();
        // The key is its type.
        value.downcast().unwrap_or_default()
    }

    /// From here on adding a node is an error.
    pub fn finalize(&self) {
        self.lock().finalized = true;
    }

    /// Takes [`Graph::finalize`] back, for those who know that nobody relies on it.
    pub fn unfinalize(&self) {
        self.lock().finalized = false;
    }

    /// Changes the device that a node asks for.
    pub fn set_device(&self, op: Op<'_>, device: &str) -> Result<()> {
        let mut g = self.lock();
        g.node(op.id())?;
        g.nodes[op.id().index()].device = device.into();
        g.edits += 1;
        Ok(())
    }

    /// Sets an attribute of a node that is there already. One that the op declares must stay of its kind; those of which types and shapes
    /// were inferred do not change these.
    pub fn set_attr(&self, op: Op<'_>, name: &str, value: Attr) -> Result<()> {
        let mut g = self.lock();
        let node = g.node(op.id())?;
        if let Some(spec) = node.info.op.attr_spec(name) {
            check_attr(node.info.op, name, spec, &value).map_err(|e| e.at_node(node.name(), node.op()))?;
        }
        Arc::make_mut(&mut g.nodes[op.id().index()].info).attrs.set(name.to_owned(), value);
        g.edits += 1;
        Ok(())
    }

    /// Adds an entry to a collection.
    pub fn add_to_collection(&self, name: &str, item: CollectionItem) {
        self.lock().collect(name, item);
    }

    /// The entries of a collection.
    pub fn collection(&self, name: &str) -> Vec<CollectionItem> {
        self.lock().collections.get(name).cloned().unwrap_or_default()
    }

    /// The operation with this name.
    pub fn operation(&self, name: &str) -> Result<Op<'_>> {
        let id = self.lock().find(name)?;
        Ok(Op::new(self, id))
    }

    /// The output with this name: `node:0`, or `node` for its first output.
    pub fn output(&self, name: &str) -> Result<Output<'_>> {
        let port = self.lock().find_port(name)?;
        Ok(Output::new(self, port))
    }

    /// All operations, in the order they were made.
    pub fn operations(&self) -> Vec<Op<'_>> {
        (0..self.len() as u32).map(|i| Op::new(self, NodeId(i))).collect()
    }

    /// A constant.
    #[track_caller]
    pub fn constant_tensor(&self, name: &str, value: Tensor) -> Output<'_> {
        self.op("Const").name(name).attr("dtype", value.dtype()).attr("value", value).output()
    }

    /// A constant: `g.constant(0)`, `g.constant([1.0, 2.0])`, or any [`Tensor`].
    #[track_caller]
    pub fn constant<'g>(&'g self, value: impl Into<Arg<'g>>) -> Output<'g> {
        match value.into().0 {
            ArgKind::Literal { value: Ok(value), .. } => self.constant_tensor("Const", value),
            ArgKind::Output(output) => output,
            ArgKind::Literal { value: Err(error), .. } => {
                self.remember(error.at_line(Location::caller()));
                Output::new(self, Port::new(NodeId::POISON, 0))
            }
            ArgKind::Open => {
                self.remember(invalid!("an open back edge is no constant").at_line(Location::caller()));
                Output::new(self, Port::new(NodeId::POISON, 0))
            }
        }
    }

    /// A placeholder of a dtype that is known only when the program runs. `shape` is what its feeds must fit.
    #[track_caller]
    pub fn placeholder_of(&self, name: &str, dtype: DType, shape: impl Into<PartialShape>) -> Output<'_> {
        self.op("Placeholder").name(name).attr("dtype", dtype).attr("shape", shape.into()).output()
    }

    /// Makes the node's first open input (a `Merge`'s back edge) come from `value`.
    pub fn close_back_edge(&self, merge: Op<'_>, value: Output<'_>) -> Result<()> {
        let mut g = self.lock();
        let target = g.node(merge.id())?;
        let wanted = target.info.input_types.first().copied();
        let source = g.node(value.port().node)?;
        let given = source.info.output_types.get(value.port().index as usize).copied();
        if target.role() != Role::Merge || source.role() != Role::NextIteration {
            return Err(invalid!(
                "a back edge leads from a NextIteration to a Merge, not from `{}` ({}) to `{}` ({})",
                source.name(),
                source.op(),
                target.name(),
                target.op()
            ));
        }
        if wanted != given {
            return Err(invalid!(
                "the back edge into `{}` must carry {} but `{}` gives {}",
                target.name(),
                wanted.map_or("nothing".into(), |t| t.to_string()),
                source.name(),
                given.map_or("nothing".into(), |t| t.to_string())
            ));
        }
        g.close_merge(merge.id(), value.port())
    }

    /// Makes input `index` of a node that exists already come from `value`: the back edge of a loop made by hand (a `Merge` whose last input
    /// stood in for it). Of the same type; what is known of the node's outputs becomes what holds of both.
    pub fn update_input(&self, op: Op<'_>, index: usize, value: Output<'_>) -> Result<()> {
        if !value.graph().same(self) || !op.graph().same(self) {
            return Err(invalid!("an input of `{}` must be of its own graph", op.name()));
        }
        let mut g = self.lock();
        let node = g.node(op.id())?;
        let wanted = node.info.input_types.get(index).copied();
        let wanted = wanted.ok_or_else(|| {
            invalid!("`{}` has {} inputs, not {}", node.name(), node.inputs.len(), index + 1)
        })?;
        let given = g.type_of(value.port())?;
        if wanted.dtype != given.dtype || wanted.is_ref && !given.is_ref {
            return Err(invalid!("input {index} of `{}` is {wanted}, not {given}", node.name()));
        }
        let mut inputs = node.inputs.clone();
        inputs[index] = value.port();
        let info = node.info.clone();
        let (shapes, known) = g.infer(&info, &inputs)?;
        let node = &mut g.nodes[op.id().index()];
        for (old, new) in node.shapes.iter_mut().zip(&shapes) {
            *old = old.join(new);
        }
        (node.inputs, node.known) = (inputs, known);
        g.edits += 1;
        Ok(())
    }

    /// Adds a control input to a node that exists already.
    pub fn add_control_input(&self, op: Op<'_>, before: Op<'_>) -> Result<()> {
        let mut g = self.lock();
        g.node(before.id())?;
        g.node(op.id())?;
        let controls = &mut g.nodes[op.id().index()].controls;
        if !controls.contains(&before.id()) {
            controls.push(before.id());
        }
        g.edits += 1;
        Ok(())
    }

    /// Takes all control inputs away.
    pub fn remove_control_inputs(&self, op: Op<'_>) -> Result<()> {
        let mut g = self.lock();
        g.node(op.id())?;
        g.nodes[op.id().index()].controls.clear();
        g.edits += 1;
        Ok(())
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Graph({} nodes)", self.len())
    }
}

/// Runs its closure when dropped, so that scopes end when `build` panics too.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl GraphData {
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

    /// From here on adding a node is an error.
    pub(crate) fn set_finalized(&mut self) {
        self.finalized = true;
    }

    /// Nobody gets this name any more.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.names.entry(name.to_lowercase()).or_insert(1);
    }

    /// Changes with every edit of an existing node; together with the length it says whether the graph is the same.
    pub fn edits(&self) -> u64 {
        self.edits
    }

    /// A node by id.
    pub fn node(&self, id: NodeId) -> Result<&Node> {
        self.nodes.get(id.index()).ok_or_else(|| {
            invalid!("this value belongs to a node that could not be made")
                .with_help("mend the first error reported")
        })
    }

    /// A node by name. `NOT_FOUND`, with near names, if there is none.
    pub fn find(&mut self, name: &str) -> Result<NodeId> {
        while self.indexed < self.nodes.len() {
            let name: Arc<str> = self.nodes[self.indexed].name().into();
            self.by_name.insert(name, NodeId(self.indexed as u32));
            self.indexed += 1;
        }
        self.by_name.get(name).copied().ok_or_else(|| {
            Error::new(millstream_tensor::Code::NotFound, format!("the graph has no node `{name}`"))
        })
    }

    /// An output by name: `node:0`, or `node` for its first output.
    pub fn find_port(&mut self, name: &str) -> Result<Port> {
        let (node, index) = match name.rsplit_once(':') {
            Some((node, index)) if !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) => {
                (node, index.parse::<u32>().map_err(|_| invalid!("`{name}` names no output"))?)
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

    /// What is known of the shape of an output.
    pub fn shape_of(&self, port: Port) -> PartialShape {
        let node = self.nodes.get(port.node.index());
        node.and_then(|n| n.shapes.get(port.index as usize)).cloned().unwrap_or_default()
    }

    /// What is known of the value of an output.
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

    /// What the resource holds that an output refers to, if it is known.
    pub fn known_handle(&self, port: Port) -> Option<HandleShape> {
        match self.known(port)? {
            Known::Handle(handle) => Some(handle.clone()),
            Known::Value(_) | Known::Partial { .. } => None,
        }
    }

    /// After nodes were taken back: the names of those that are left are indexed anew when one is looked up.
    pub(crate) fn forget_names(&mut self) {
        self.by_name.clear();
        self.indexed = 0;
        self.edits += 1;
    }

    /// As TensorFlow's `unique_name`: scoped, counted without regard to case.
    pub(crate) fn unique_name(&mut self, name: &str) -> String {
        let name = format!("{}{}", self.blocks.scope, name);
        let key = name.to_lowercase();
        let Some(count) = self.names.get_mut(&key) else {
            self.names.insert(key, 1);
            return name;
        };
        let mut i = *count;
        *count += 1;
        loop {
            let candidate = format!("{key}_{i}");
            if let std::collections::hash_map::Entry::Vacant(free) = self.names.entry(candidate) {
                free.insert(1);
                if let Some(count) = self.names.get_mut(&key) {
                    *count = i + 1;
                }
                return format!("{name}_{i}");
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

    /// Sets the context of the nodes to come.
    pub(crate) fn set_current(&mut self, context: Option<ContextId>) {
        self.current = context;
    }

    /// The context around a context.
    pub(crate) fn context_parent(&self, id: ContextId) -> Option<ContextId> {
        self.contexts[id.0 as usize].parent
    }

    /// Changes what is on record of a loop.
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

    /// The control inputs that the blocks around a new node ask for, as TensorFlow computes them: a block is left out
    /// when an input of the node was itself made inside of it.
    pub(crate) fn scope_controls(&self, inputs: &[Port]) -> SmallVec<[NodeId; 2]> {
        let mut controls: SmallVec<[NodeId; 2]> = SmallVec::new();
        for block in &self.blocks.controls {
            if inputs.iter().any(|p| block.seen.contains(&p.node)) {
                continue;
            }
            for c in &block.inputs {
                if !controls.contains(c) && !inputs.iter().any(|p| p.node == *c) {
                    controls.push(*c);
                }
            }
        }
        controls
    }

    /// Makes a node in the current scopes and context.
    pub(crate) fn add(&mut self, mut spec: NodeSpec) -> Result<NodeId> {
        for c in self.scope_controls(&spec.inputs) {
            if !spec.controls.contains(&c) {
                spec.controls.push(c);
            }
        }
        self.enter_context(&mut spec)?;
        if !self.blocks.overlays.is_empty() {
            self.overlay(&mut spec)?;
        }
        let id = self.insert(spec)?;
        self.note_seen(id);
        Ok(id)
    }

    /// Adds a node as an op builder does: named in the current scope, with what it captures named under it.
    pub(crate) fn add_scoped(&mut self, mut spec: NodeSpec) -> Result<NodeId> {
        let name = match spec.naming {
            Naming::Scoped(name) => self.unique_name(&name),
            Naming::Exact(name) | Naming::Reserved(name) => name,
        };
        spec.naming = Naming::Reserved(name.clone());
        self.with_scope(format!("{name}/"), |g| g.add(spec))
    }

    /// The open `control_dependencies` blocks remember that what this node gives already runs after their inputs.
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

    /// Sets the name scope; gives the one before.
    pub(crate) fn replace_scope(&mut self, scope: String) -> String {
        std::mem::replace(&mut self.blocks.scope, scope)
    }

    /// Sets the device of the nodes to come; gives the one before.
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

    /// Makes a node just as it is said: checks types, infers shapes, appends it.
    pub(crate) fn insert(&mut self, spec: NodeSpec) -> Result<NodeId> {
        let at = spec.at;
        let op = spec.op.clone();
        self.insert_inner(spec).map_err(|e| match e.node() {
            Some(_) => e,
            None => e.note(format!("while adding a node of op {op}")).at_line(at),
        })
    }

    /// As [`GraphData::insert`], without the source line in errors.
    pub(crate) fn insert_inner(&mut self, spec: NodeSpec) -> Result<NodeId> {
        if self.finalized {
            return Err(Error::new(
                millstream_tensor::Code::FailedPrecondition,
                "the graph is finalized and cannot be changed",
            ));
        }
        let op = self.registry.get(&spec.op).ok_or_else(|| {
            let error = Error::unimplemented(format!("there is no op `{}`", spec.op));
            match self.registry.similar(&spec.op).as_slice() {
                [] => error,
                near => error.with_help(format!("did you mean {}?", near.join(", "))),
            }
        })?;
        let first = spec.inputs.iter().find(|p| **p != Port::OPEN).copied();
        let mut types: SmallVec<[ValueType; 4]> = SmallVec::new();
        for &p in &spec.inputs {
            // A back edge that is still open has the type of the other inputs.
            types.push(self.type_of(if p == Port::OPEN { first.unwrap_or(p) } else { p })?);
        }
        for &c in &spec.controls {
            self.node(c)?;
        }
        let name = match spec.naming {
            Naming::Scoped(name) => self.unique_name(&name),
            Naming::Reserved(name) => name,
            Naming::Exact(name) => {
                if self.find(&name).is_ok() {
                    return Err(Error::new(
                        millstream_tensor::Code::AlreadyExists,
                        format!("the graph already has a node `{name}`"),
                    ));
                }
                // Scopes above it count as taken too, as TensorFlow has it.
                self.names.entry(name.to_lowercase()).or_insert(1);
                name
            }
        };
        let info = NodeInfo::resolve(op, name, &types, spec.attrs)
            .map_err(|e| e.note(format!("inputs: {}", self.describe(&spec.inputs))))?;
        if self.nodes.len() >= NodeId::POISON.index() {
            return Err(invalid!("a graph may have at most 2^32 - 1 nodes"));
        }
        let (shapes, known) = self.infer(&info, &spec.inputs).map_err(|e| {
            e.more(&self.place_of(&info, &spec.inputs))
                .at_node(&info.name, op.name)
                .note(format!("inputs: {}", self.describe(&spec.inputs)))
        })?;
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            info: Arc::new(info),
            inputs: spec.inputs,
            controls: spec.controls,
            shapes,
            known,
            device: spec.device.unwrap_or_else(|| self.blocks.device.clone()),
            context: spec.context,
            at: spec.at,
        });
        Ok(id)
    }

    /// How TensorFlow ends what it says of shapes: with the node, its op, and what is known of the inputs' shapes.
    fn place_of(&self, info: &NodeInfo, inputs: &[Port]) -> String {
        let shape = |&p: &Port| Some(self.shape_of(p)).filter(|s| s.rank().is_some()).map(|s| s.to_string());
        let shapes: Vec<_> = inputs.iter().map(|p| shape(p).unwrap_or_else(|| "?".to_owned())).collect();
        let with = if shapes.is_empty() { "" } else { " with input shapes: " };
        format!(" for '{}' (op: '{}'){with}{}.", info.name, info.op.name, shapes.join(", "))
    }

    fn describe(&self, inputs: &[Port]) -> String {
        let one = |&p: &Port| match (self.node(p.node), self.type_of(p)) {
            (Ok(node), Ok(ty)) => format!("`{}:{}` {ty}{}", node.name(), p.index, self.shape_of(p)),
            _ => "an open back edge".to_owned(),
        };
        let shown: Vec<_> = inputs.iter().take(8).map(one).collect();
        let more = if inputs.len() > 8 { format!(" and {} more", inputs.len() - 8) } else { String::new() };
        format!("{}{more}", shown.join(", "))
    }

    #[expect(clippy::type_complexity, reason = "the pair that a node holds")]
    pub(crate) fn infer(
        &self,
        info: &NodeInfo,
        inputs: &[Port],
    ) -> Result<(SmallVec<[PartialShape; 1]>, SmallVec<[Option<Arc<Known>>; 1]>)> {
        let shapes: SmallVec<[PartialShape; 3]> = inputs.iter().map(|&p| self.shape_of(p)).collect();
        let known: SmallVec<[Option<Known>; 3]> = inputs.iter().map(|&p| self.known(p).cloned()).collect();
        let (shapes, mut outputs) = InferCx::new(info, &shapes, &known).infer()?;
        // What is not small is not folded, and must not even be tried: a few bytes may ask for any size.
        if outputs.iter().all(Option::is_none)
            && shapes.iter().all(|s| s.elements().is_none_or(|n| n <= 64))
            && let Some(values) = self.fold(info, &known)
        {
            outputs = values.into_iter().map(|v| Some(Known::Value(v))).collect();
        }
        Ok((shapes.into_iter().collect(), outputs.into_iter().map(|k| k.map(Arc::new)).collect()))
    }

    /// The outputs of a node whose inputs are small known integers, as the op library computes them: shapes and sizes are
    /// worked out this way while the graph is built.
    fn fold(&self, info: &NodeInfo, known: &[Option<Known>]) -> Option<Vec<Tensor>> {
        let small =
            |t: &Tensor| t.elements() <= 64 && matches!(t.dtype(), DType::I32 | DType::I64 | DType::Bool);
        if known.is_empty() || !info.output_types.iter().all(|t| matches!(t.dtype, DType::I32 | DType::I64)) {
            return None;
        }
        let inputs: Option<Vec<Tensor>> = known
            .iter()
            .map(|k| match k {
                Some(Known::Value(t)) if small(t) => Some(t.clone()),
                _ => None,
            })
            .collect();
        self.registry.fold(info, &inputs?).filter(|v| v.iter().all(small))
    }

    /// Refines what is known of the shape of an output.
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

    /// Replaces what is known of the shape of an output (loop builders relax what they set before).
    pub(crate) fn set_shape(&mut self, port: Port, shape: PartialShape) {
        if let Some(node) = self.nodes.get_mut(port.node.index()) {
            node.shapes[port.index as usize] = shape;
        }
    }
}
