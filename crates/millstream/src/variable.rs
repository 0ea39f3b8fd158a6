//! [`Variable`]: what a session keeps between runs.

use crate::options::Start;
use crate::value::Value;
use millstream_graph::{Arg, CollectionItem, Graph, NodeId, Op, Output, Port};
use millstream_interop::proto::{VariableDef, decode, encode};
use millstream_tensor::{DType, PartialShape, Result, Str, Tensor};
use std::panic::Location;

/// The collection of all variables.
pub const GLOBAL_VARIABLES: &str = "variables";

/// The collection of the variables that training changes.
pub const TRAINABLE_VARIABLES: &str = "trainable_variables";

/// The collection of the variables that are not saved: counters, say.
pub const LOCAL_VARIABLES: &str = "local_variables";

/// The collection of what regularizers make of variables: terms to add to a loss.
pub const REGULARIZATION_LOSSES: &str = "regularization_losses";

/// The collection of the operations that train.
pub const TRAIN_OP: &str = "train_op";

/// The collection that holds the variable counting steps of training.
pub const GLOBAL_STEP: &str = "global_step";

/// A variable: a tensor that belongs to the session (or those that share its resources) and outlives its runs.
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let v = g.variable("v", 1.0f32);
/// let (init, step) = (g.global_variables_initializer(), v.assign_add(2.0));
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// session.run::<()>(step, feed![])?;
/// assert_eq!(session.run::<f32>(v.read(), feed![])?, 3.0);
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Variable<'g> {
    graph: &'g Graph,
    parts: Parts,
}

/// What makes up a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    handle: Port,
    snapshot: Port,
    initializer: NodeId,
    initial_value: Option<Port>,
    by_ref: bool,
    trainable: bool,
}

/// Where a new variable is listed.
pub(crate) struct Listing {
    pub(crate) trainable: bool,
    pub(crate) collections: Vec<String>,
}

impl Default for Listing {
    fn default() -> Listing {
        Listing { trainable: true, collections: vec![GLOBAL_VARIABLES.into()] }
    }
}

/// Variables of a graph.
pub trait Variables {
    /// A variable held by a resource handle, with its initial value.
    #[track_caller]
    fn variable<'g>(&'g self, name: &str, initial: impl Into<Value<'g>>) -> Variable<'g>;

    /// A variable held by reference, as TensorFlow 1 makes them by default.
    #[track_caller]
    fn ref_variable<'g>(&'g self, name: &str, initial: impl Into<Value<'g>>) -> Variable<'g>;

    /// An operation that gives all variables made so far their initial values; not the local ones.
    #[track_caller]
    fn global_variables_initializer(&self) -> Op<'_>;

    /// An operation that gives the local variables their initial values.
    #[track_caller]
    fn local_variables_initializer(&self) -> Op<'_>;

    /// An operation that gives these variables their initial values.
    #[track_caller]
    fn variables_initializer<'g>(&'g self, variables: &[Variable<'g>], name: &str) -> Op<'g>;

    /// The variables of a collection, also those of an imported `MetaGraphDef`.
    fn variables_in(&self, collection: &str) -> Vec<Variable<'_>>;

    /// All variables but the local ones: what a checkpoint holds.
    fn global_variables(&self) -> Vec<Variable<'_>> {
        self.variables_in(GLOBAL_VARIABLES)
    }

    /// The variables that training changes.
    fn trainable_variables(&self) -> Vec<Variable<'_>> {
        self.variables_in(TRAINABLE_VARIABLES)
    }

    /// The variables that are not saved.
    fn local_variables(&self) -> Vec<Variable<'_>> {
        self.variables_in(LOCAL_VARIABLES)
    }

    /// The names of those of these variables that have no value yet, as a vector of strings.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let (a, _b) = (g.variable("a", 1.0f32), g.variable("b", 1.0f32));
    /// let left = g.report_uninitialized_variables(&g.global_variables());
    /// let session = Session::new(&g)?;
    /// session.run::<()>(a.initializer(), feed![])?;
    /// let left: Tensor = session.run(left, feed![])?;
    /// assert_eq!(left.to_string(), r#"str[1] ["b"]"#);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn report_uninitialized_variables<'g>(&'g self, variables: &[Variable<'g>]) -> Output<'g>;
}

impl Variables for Graph {
    #[track_caller]
    fn variable<'g>(&'g self, name: &str, initial: impl Into<Value<'g>>) -> Variable<'g> {
        let (initial, at) = (initial.into(), Location::caller());
        by_handle(self, name, Listing::default(), at, |g| initial.place(g, "initial_value", at))
    }

    #[track_caller]
    fn ref_variable<'g>(&'g self, name: &str, initial: impl Into<Value<'g>>) -> Variable<'g> {
        let (initial, at) = (initial.into(), Location::caller());
        by_ref(self, name, Listing::default(), at, |g| initial.place(g, "initial_value", at))
    }

    #[track_caller]
    fn global_variables_initializer(&self) -> Op<'_> {
        self.variables_initializer(&self.global_variables(), "init")
    }

    #[track_caller]
    fn local_variables_initializer(&self) -> Op<'_> {
        self.variables_initializer(&self.local_variables(), "init")
    }

    #[track_caller]
    fn variables_initializer<'g>(&'g self, variables: &[Variable<'g>], name: &str) -> Op<'g> {
        let node = self.start_as("NoOp", name);
        variables.iter().fold(node, |node, v| node.control(v.initializer())).finish()
    }

    fn variables_in(&self, collection: &str) -> Vec<Variable<'_>> {
        let items = self.collection(collection).into_iter();
        items
            .filter_map(|item| match item {
                CollectionItem::Bytes(bytes) => Variable::from_message(self, &decode(&bytes).ok()?),
                _ => None,
            })
            .collect()
    }

    #[track_caller]
    fn report_uninitialized_variables<'g>(&'g self, variables: &[Variable<'g>]) -> Output<'g> {
        let at = Location::caller();
        self.name_scope("report_uninitialized_variables", || {
            let names: Vec<Str> = variables.iter().map(|v| v.name().into()).collect();
            let names = Value::Literal(Tensor::strings([names.len()], names)).place(self, "Const", at);
            if variables.is_empty() {
                return names;
            }
            let has = variables.iter().map(|v| v.is_initialized());
            let has = self.op("Pack").name("stack").at(at).inputs(has.collect::<Vec<_>>()).output();
            let left =
                self.op("Where").at(at).input(self.op("LogicalNot").at(at).input(has).output()).output();
            let rows = self.op("Squeeze").at(at).input(left).attr("squeeze_dims", vec![1i64]).output();
            self.op("GatherV2").at(at).input(names).input(rows).input(0).output()
        })
    }
}

/// A variable behind a handle; `initial` makes its initial value, in a scope of its own.
pub(crate) fn by_handle<'g>(
    g: &'g Graph,
    name: &str,
    listing: Listing,
    at: &'static Location<'static>,
    initial: impl FnOnce(&'g Graph) -> Output<'g>,
) -> Variable<'g> {
    g.without_control(|| {
        g.name_scope(name, || {
            let full = g.scope();
            let initial = g.name_scope("Initializer", || initial(g));
            let handle = declare(g, "VarHandleOp", initial, at)
                .attr("shared_name", full.trim_end_matches('/'))
                .output();
            g.name_scope("IsInitialized", || g.op("VarIsInitializedOp").at(at).input(handle).finish());
            let assign = g.op("AssignVariableOp").name("Assign").at(at);
            let initializer = assign.input(handle).input(initial).finish();
            let snapshot = g.name_scope("Read", || read(handle, initial, at));
            Variable::new(g, [handle, snapshot, initial], initializer, false).listed(listing)
        })
    })
}

/// A variable held by reference.
pub(crate) fn by_ref<'g>(
    g: &'g Graph,
    name: &str,
    listing: Listing,
    at: &'static Location<'static>,
    initial: impl FnOnce(&'g Graph) -> Output<'g>,
) -> Variable<'g> {
    g.without_control(|| {
        g.name_scope(name, || {
            let initial = initial(g);
            let handle = declare(g, "VariableV2", initial, at).output();
            let initializer = g.op("Assign").at(at).input(handle).input(initial).finish();
            let snapshot = g.op("Identity").name("read").at(at).input(handle).output();
            Variable::new(g, [handle, snapshot, initial], initializer, true).listed(listing)
        })
    })
}

/// The node that holds a variable of an initial value's type, named as the current scope.
fn declare<'g>(
    g: &'g Graph,
    op: &'static str,
    initial: Output<'g>,
    at: &'static Location<'static>,
) -> millstream_graph::OpBuilder<'g> {
    let node = g.op(op).name(g.scope()).at(at).attr("shape", initial.shape());
    // Without a dtype the initial value is a mistake that the graph knows of already.
    initial.dtype().map_or(g.op(op).at(at), |dtype| node.attr("dtype", dtype))
}

fn read<'g>(handle: Output<'g>, like: Output<'g>, at: &'static Location<'static>) -> Output<'g> {
    let node = handle.graph().op("ReadVariableOp").at(at).input(handle);
    like.dtype().map_or(like, |dtype| node.attr("dtype", dtype).output())
}

impl<'g> Variable<'g> {
    fn new(
        graph: &'g Graph,
        [handle, snapshot, initial]: [Output<'g>; 3],
        initializer: Op<'g>,
        by_ref: bool,
    ) -> Variable<'g> {
        let parts = Parts {
            handle: handle.port(),
            snapshot: snapshot.port(),
            initializer: initializer.id(),
            initial_value: Some(initial.port()),
            by_ref,
            trainable: true,
        };
        Variable { graph, parts }
    }

    /// The variable of these parts.
    pub(crate) fn of_parts(graph: &'g Graph, parts: Parts) -> Variable<'g> {
        Variable { graph, parts }
    }

    pub(crate) fn parts(&self) -> Parts {
        self.parts
    }

    fn listed(mut self, listing: Listing) -> Self {
        self.parts.trainable = listing.trainable;
        let mut collections = listing.collections;
        if listing.trainable && !collections.iter().any(|c| c == TRAINABLE_VARIABLES) {
            collections.push(TRAINABLE_VARIABLES.into());
        }
        let message = encode(&self.message());
        for collection in collections {
            self.graph.add_to_collection(&collection, CollectionItem::Bytes(message.clone()));
        }
        self
    }

    /// As collections list it.
    fn message(&self) -> VariableDef {
        VariableDef {
            variable_name: self.handle().name(),
            initializer_name: self.initializer().name(),
            snapshot_name: Output::new(self.graph, self.parts.snapshot).name(),
            initial_value_name: self.initial_value().map(|v| v.name()).unwrap_or_default(),
            is_resource: !self.parts.by_ref,
            trainable: self.parts.trainable,
            ..VariableDef::default()
        }
    }

    /// The variable that a collection lists, if the graph has all of it.
    fn from_message(graph: &'g Graph, message: &VariableDef) -> Option<Variable<'g>> {
        let port = |name: &str| graph.output(name).ok().map(|o| o.port());
        let parts = Parts {
            handle: port(&message.variable_name)?,
            snapshot: port(&message.snapshot_name)?,
            initializer: graph.operation(&message.initializer_name).ok()?.id(),
            initial_value: port(&message.initial_value_name),
            by_ref: !message.is_resource,
            trainable: message.trainable,
        };
        Some(Variable { graph, parts })
    }

    /// Its name: under which checkpoints keep it.
    pub fn name(&self) -> String {
        self.handle().op().name()
    }

    /// The graph.
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// The resource handle, or the reference.
    pub fn handle(&self) -> Output<'g> {
        Output::new(self.graph, self.parts.handle)
    }

    /// Whether it is held by reference, as TensorFlow 1 makes variables by default, and not behind a handle.
    pub fn is_ref(&self) -> bool {
        self.parts.by_ref
    }

    /// Whether training changes it where nothing else is said.
    pub fn is_trainable(&self) -> bool {
        self.parts.trainable
    }

    /// The operation that gives it its initial value.
    pub fn initializer(&self) -> Op<'g> {
        Op::new(self.graph, self.parts.initializer)
    }

    /// The value that it is given first, where it is known.
    pub fn initial_value(&self) -> Option<Output<'g>> {
        self.parts.initial_value.map(|port| Output::new(self.graph, port))
    }

    /// Its value as the nodes made with it read it: one read for all, before any change of the run is sure to be seen.
    pub fn value(&self) -> Output<'g> {
        Output::new(self.graph, self.parts.snapshot)
    }

    /// Whether it has a value.
    #[track_caller]
    pub fn is_initialized(&self) -> Output<'g> {
        let op = if self.parts.by_ref { "IsVariableInitialized" } else { "VarIsInitializedOp" };
        self.graph.op(op).input(self.handle()).output()
    }

    /// The dtype of its value.
    pub fn dtype(&self) -> Result<DType> {
        self.value().dtype()
    }

    /// What is known of the shape of its value.
    pub fn shape(&self) -> PartialShape {
        self.value().shape()
    }

    /// Its value, read after what the current control dependencies name.
    #[track_caller]
    pub fn read(&self) -> Output<'g> {
        match self.parts.by_ref {
            true => self.graph.op("Identity").input(self.handle()).output(),
            false => read(self.handle(), self.value(), Location::caller()),
        }
    }

    /// Replaces its value.
    #[track_caller]
    pub fn assign(&self, value: impl Into<Arg<'g>>) -> Op<'g> {
        self.update("Assign", "AssignVariableOp", value.into())
    }

    /// Adds to its value.
    #[track_caller]
    pub fn assign_add(&self, value: impl Into<Arg<'g>>) -> Op<'g> {
        self.update("AssignAdd", "AssignAddVariableOp", value.into())
    }

    /// Subtracts from its value.
    #[track_caller]
    pub fn assign_sub(&self, value: impl Into<Arg<'g>>) -> Op<'g> {
        self.update("AssignSub", "AssignSubVariableOp", value.into())
    }

    #[track_caller]
    fn update(&self, by_ref: &'static str, by_handle: &'static str, value: Arg<'g>) -> Op<'g> {
        let op = if self.parts.by_ref { by_ref } else { by_handle };
        let node = self.graph.op(op).input(self.handle()).input(value);
        match self.value().dtype() {
            // A literal takes the variable's dtype, which a handle does not show.
            Ok(dtype) if !self.parts.by_ref => node.attr("dtype", dtype).finish(),
            _ => node.finish(),
        }
    }
}

impl std::fmt::Debug for Variable<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.dtype() {
            Ok(dtype) => write!(f, "variable {}: {dtype}{}", self.name(), self.shape()),
            Err(_) => f.write_str("(not made)"),
        }
    }
}

impl PartialEq for Variable<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.graph.same(other.graph) && self.parts.handle == other.parts.handle
    }
}

/// What gradients are taken by.
impl<'g> From<&Variable<'g>> for Output<'g> {
    fn from(variable: &Variable<'g>) -> Self {
        variable.handle()
    }
}

impl<'g> From<Variable<'g>> for Output<'g> {
    fn from(variable: Variable<'g>) -> Self {
        variable.handle()
    }
}
