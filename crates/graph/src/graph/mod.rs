//! [`Graph`]: nodes in the order they were made. Append-only but for back edges, control inputs and what is known of shapes.
//! `insert` is how a node comes into it, `data` what it holds, looked up and noted.

mod data;
mod insert;

pub(crate) use insert::{Naming, NodeSpec};

use crate::attr::Attr;
use crate::blocks::{Blocks, Parked};
use crate::builder::{Arg, ArgKind};
use crate::context::{Context, ContextId};
use crate::ids::{NodeId, Port};
use crate::node::Node;
use crate::op::{GradientFn, Registry, Role, check_attr};
use crate::output::{Op, Output};
use millstream_tensor::{DType, Error, PartialShape, Result, Tensor, invalid};
use parking_lot::{Mutex, MutexGuard};
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

    /// The name that [`Graph::unique_name`] would give now, without taking it.
    pub fn free_name(&self, name: &str) -> String {
        self.lock().free_name(name)
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
