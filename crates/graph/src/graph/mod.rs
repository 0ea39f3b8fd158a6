//! [`Graph`]: nodes in the order in which they were made. Append-only, except for back edges, control inputs
//! and static shapes. `insert` adds nodes, and `data` holds the accessors.

mod data;
mod insert;

pub(crate) use insert::{Naming, NodeSpec};

use crate::attr::Attr;
use crate::blocks::{Blocks, Parked};
use crate::builder::{Arg, ArgKind};
use crate::context::{Context, ContextId};
use crate::function::{Around, Functions};
use crate::ids::{NodeId, Port};
use crate::imported::Absent;
use crate::node::Node;
use crate::op::{GradientFn, Registry, Role, check_attr};
use crate::output::{Op, Output};
use millstream_state::this_thread;
use millstream_tensor::{DType, Error, PartialShape, Result, Tensor, invalid};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A graph under construction, shared by its clones. Several threads may build at the same time. A name scope
/// belongs to the thread that entered it. Control dependencies, devices and other blocks belong to the graph
/// until [`Graph::switch_to_thread_local`], and so does the loop or branch being built.
///
/// Adding a node never fails in the middle of an expression: the graph remembers the first mistake with its
/// source line, and the next call that returns a `Result`, such as [`Graph::check`], returns it.
#[derive(Clone)]
pub struct Graph(Arc<Shared>);

/// What the clones of a graph share.
struct Shared {
    /// The number of the thread that holds `data`; 0 for none. Only compared with the own number of a thread,
    /// which no other thread writes.
    holder: AtomicU64,
    data: Mutex<GraphData>,
}

/// The contents of a graph, held by this thread.
pub(crate) struct Locked<'g> {
    holder: &'g AtomicU64,
    data: MutexGuard<'g, GraphData>,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.holder.store(0, Relaxed);
    }
}

impl Deref for Locked<'_> {
    type Target = GraphData;
    fn deref(&self) -> &GraphData {
        &self.data
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut GraphData {
        &mut self.data
    }
}

/// An entry of a collection.
#[derive(Clone, Debug)]
pub enum CollectionItem {
    /// A node or one of its outputs, by name (`v`, `v:0`).
    Node(String),
    /// Any bytes: an encoded message.
    Bytes(Vec<u8>),
    /// An int.
    Int(i64),
    /// A float.
    Float(f32),
    /// A loop or branch: an entry of `while_context` or `cond_context`.
    Context(ContextId),
}

/// The contents of a graph, for [`Graph::read`].
pub struct GraphData {
    registry: &'static Registry,
    pub(crate) nodes: Vec<Node>,
    /// The number of requests for each lower-cased name. Names must differ by more than case, because files
    /// are named after them.
    names: HashMap<String, u32>,
    /// Nodes by name. Holds the first `indexed` nodes; a lookup adds the rest.
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
    /// The source line of new nodes, which overrides that of the code that makes them.
    line: Option<&'static Location<'static>>,
    /// Values that other libraries keep with the graph, one of each type.
    extensions: HashMap<std::any::TypeId, Arc<dyn std::any::Any + Send + Sync>>,
    /// Shapes that were declared (`set_shape`), apart from those that were inferred.
    pub(crate) declared: HashMap<Port, PartialShape>,
    /// Registered gradients by name, for nodes with the attribute `_gradient_op_type`.
    gradients: HashMap<String, GradientFn>,
    /// The control inputs of nodes that have many and were given more, so that adding one takes constant
    /// time. A set is that of its node as long as it is as large as the node's list, which only grows or is
    /// cleared.
    many_controls: HashMap<NodeId, HashSet<NodeId>>,
    /// The number of changes to existing nodes (back edges, control inputs), for caches that compare lengths.
    edits: u64,
    /// The functions that nodes call by name.
    pub(crate) functions: Functions,
    /// The nodes that an import left out, by name.
    pub(crate) absent: BTreeMap<String, Arc<Absent>>,
    /// The graph around this one, while it is built as the body of a function.
    pub(crate) around: Option<Around>,
}

impl std::fmt::Debug for GraphData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GraphData")
            .field("n_nodes", &self.nodes.len())
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

/// A `control_dependencies` block.
#[derive(Clone)]
pub(crate) struct ControlScope {
    inputs: Vec<NodeId>,
    /// The nodes made inside. A node that takes one of them as input runs after `inputs` anyway.
    seen: HashSet<NodeId>,
}

impl Graph {
    /// An empty graph over a library of op types.
    pub fn with_ops(registry: &'static Registry) -> Graph {
        let data = Mutex::new(GraphData {
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
            many_controls: HashMap::new(),
            edits: 0,
            functions: Functions::new(),
            absent: BTreeMap::new(),
            around: None,
        });
        Graph(Arc::new(Shared { holder: AtomicU64::new(0), data }))
    }

    /// The graph's contents. A panic if this thread holds them already: it would wait for itself.
    pub(crate) fn lock(&self) -> Locked<'_> {
        let (holder, thread) = (&self.0.holder, this_thread());
        assert!(
            holder.load(Relaxed) != thread,
            "a closure that was given to `Graph::read` called a method of the same graph, which waits for the \
             closure to end; call the method before or after `read`, or use what the closure is given"
        );
        let data = self.0.data.lock();
        holder.store(thread, Relaxed);
        let mut g = Locked { holder, data };
        g.change_thread();
        g
    }

    /// Calls `look` with the graph's current contents. `look` must not call methods of the graph.
    ///
    /// # Panics
    ///
    /// If `look` calls a method of the graph, on this thread. On another thread, the method waits for `look`
    /// to end.
    pub fn read<R>(&self, look: impl FnOnce(&GraphData) -> R) -> R {
        look(&self.lock())
    }

    /// The control inputs of all open `control_dependencies` blocks.
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

    /// The number of nodes.
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

    /// Remembers a mistake for the next call that returns a `Result`. Only the first mistake is kept.
    pub fn remember(&self, error: Error) {
        self.lock().error.get_or_insert(error);
    }

    /// Runs `build` with names prefixed by `name/`, made unique as in TensorFlow. A name that ends in `/`
    /// re-enters that scope.
    pub fn name_scope<R>(&self, name: &str, build: impl FnOnce() -> R) -> R {
        let _within = self.enter_name_scope(name);
        build()
    }

    /// Runs `build` with names prefixed by exactly `scope` (empty, or ending in `/`): re-enters a scope.
    pub fn in_scope<R>(&self, scope: String, build: impl FnOnce() -> R) -> R {
        let _within = self.enter_scope(scope);
        build()
    }

    /// Registers a gradient under a name. It replaces the op's gradient for nodes whose attribute
    /// `_gradient_op_type` is this name. A gradient under the name of an op type without a gradient applies
    /// to all nodes of that type.
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

    /// A name in the current scope that no other node gets.
    pub fn unique_name(&self, name: &str) -> String {
        self.lock().unique_name(name)
    }

    /// The name that [`Graph::unique_name`] would return now, without taking it.
    pub fn free_name(&self, name: &str) -> String {
        self.lock().free_name(name)
    }

    /// Makes the nodes of `build` run after these operations: in a loop, after those of the same iteration.
    /// Operations outside the loop run once, before it.
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

    /// Makes new nodes belong to this loop or branch, or to none. For callers that leave one in the middle
    /// and come back.
    pub fn set_current_context(&self, context: Option<ContextId>) {
        self.lock().current = context;
    }

    /// Runs `build` inside a loop or branch.
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

    /// Makes the nodes of `build` ask for this device.
    pub fn device<R>(&self, device: &str, build: impl FnOnce() -> R) -> R {
        let _within = self.enter_device(device);
        build()
    }

    /// The device that new nodes ask for.
    pub fn current_device(&self) -> String {
        self.lock().blocks.device.to_string()
    }

    /// Gives the nodes of `build`, and its mistakes, the source line `at`: the line of the call that makes
    /// them all.
    pub fn built_at<R>(&self, at: &'static Location<'static>, build: impl FnOnce() -> R) -> R {
        // An outer call of `built_at` has set the line already.
        let old = self.lock().line;
        self.lock().line = Some(old.unwrap_or(at));
        let _back = OnDrop(|| self.lock().line = old);
        build()
    }

    /// Inside [`Graph::built_at`], gives the nodes of `build`, which is the caller's own code, their own
    /// lines.
    pub fn built_where_it_stands<R>(&self, build: impl FnOnce() -> R) -> R {
        let old = self.lock().line.take();
        let _back = OnDrop(|| self.lock().line = old);
        build()
    }

    /// The source line of a node or mistake: that of [`Graph::built_at`] if there is one, else `at`.
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

    /// A value that another library keeps with the graph (its scopes, say): one of each type, made on first
    /// use.
    pub fn extension<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut g = self.lock();
        let value =
            g.extensions.entry(std::any::TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default())).clone();
        // The key is its type.
        value.downcast().unwrap_or_default()
    }

    /// Makes adding a node an error from now on.
    pub fn finalize(&self) {
        self.lock().finalized = true;
    }

    /// Reverts [`Graph::finalize`], for callers who know that no other code relies on it.
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

    /// Sets an attribute of an existing node. A declared attribute must keep its kind. Types and shapes that
    /// were inferred from the attribute do not change.
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

    /// The operation with this name. The error names similar ones, or tells why an import left it out.
    pub fn operation(&self, name: &str) -> Result<Op<'_>> {
        let mut data = self.lock();
        let id = data.find(name).map_err(|e| data.with_similar(e, name))?;
        Ok(Op::new(self, id))
    }

    /// The operation with this name, if there is one.
    pub fn find(&self, name: &str) -> Option<Op<'_>> {
        let id = self.lock().find(name).ok()?;
        Some(Op::new(self, id))
    }

    /// The output with this name: `node:0`, or `node` for its first output. The error names similar ones.
    pub fn output(&self, name: &str) -> Result<Output<'_>> {
        let mut data = self.lock();
        let port = data.find_port(name).map_err(|e| data.with_similar(e, name))?;
        Ok(Output::new(self, port))
    }

    /// All operations, in the order in which they were made.
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
                self.remember(invalid!("an open back edge is not a constant").at_line(Location::caller()));
                Output::new(self, Port::new(NodeId::POISON, 0))
            }
        }
    }

    /// A placeholder whose dtype is a run-time value. Its feeds must fit `shape`.
    #[track_caller]
    pub fn placeholder_of(&self, name: &str, dtype: DType, shape: impl Into<PartialShape>) -> Output<'_> {
        self.op("Placeholder").name(name).attr("dtype", dtype).attr("shape", shape.into()).output()
    }

    /// Connects `value` to the node's first open input, the back edge of a `Merge`.
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

    /// Connects `value` to input `index` of an existing node: closes the back edge of a loop made by hand,
    /// whose `Merge` has a stand-in there. The types must be equal. The static shapes of the node's outputs
    /// become those that fit both inputs.
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

    /// Adds a control input to an existing node.
    pub fn add_control_input(&self, op: Op<'_>, before: Op<'_>) -> Result<()> {
        let mut g = self.lock();
        g.node(before.id())?;
        g.node(op.id())?;
        g.add_control(op.id(), before.id());
        g.edits += 1;
        Ok(())
    }

    /// Removes all control inputs of a node.
    pub fn remove_control_inputs(&self, op: Op<'_>) -> Result<()> {
        let mut g = self.lock();
        g.node(op.id())?;
        g.nodes[op.id().index()].controls.clear();
        g.many_controls.remove(&op.id());
        g.edits += 1;
        Ok(())
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Graph({} nodes)", self.len())
    }
}

/// Runs its closure when dropped, so that scopes end even if `build` panics.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
