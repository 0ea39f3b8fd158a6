//! [`Variable`]: a tensor that a session keeps between runs.

use crate::ops::Ops;
use crate::options::Start;
use crate::sugar::Functions;
use crate::value::Value;
use millstream_graph::{Arg, CollectionItem, Graph, NodeId, Op, Output, Port};
use millstream_proto::{VariableDef, decode, encode};
use millstream_tensor::{DType, PartialShape, Result, Str, Tensor};
use std::panic::Location;

/// The collection of all variables.
///
/// ```
/// use millstream::GLOBAL_VARIABLES;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// g.variable("w", 1.0f32);
/// assert_eq!(g.variables_in(GLOBAL_VARIABLES).len(), 1);
/// # Ok::<(), millstream::Error>(())
/// ```
pub const GLOBAL_VARIABLES: &str = "variables";

/// The collection of the variables that training updates.
///
/// ```
/// use millstream::TRAINABLE_VARIABLES;
/// use millstream::prelude::*;
/// let g = Graph::new();
/// g.variable("w", 1.0f32);
/// assert_eq!(g.variables_in(TRAINABLE_VARIABLES).len(), 1);
/// # Ok::<(), millstream::Error>(())
/// ```
pub const TRAINABLE_VARIABLES: &str = "trainable_variables";

/// The collection of the variables that are not saved, such as counters.
///
/// ```
/// use millstream::{LOCAL_VARIABLES, VariableScopes};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// g.get_variable_from("seen", 0i64).local().build()?;
/// assert_eq!(g.variables_in(LOCAL_VARIABLES).len(), 1);
/// # Ok::<(), millstream::Error>(())
/// ```
pub const LOCAL_VARIABLES: &str = "local_variables";

/// The collection of the terms that regularizers add to the loss.
pub const REGULARIZATION_LOSSES: &str = "regularization_losses";

/// The collection of the training operations.
pub const TRAIN_OP: &str = "train_op";

/// The collection of the variable that counts training steps.
pub const GLOBAL_STEP: &str = "global_step";

/// A variable: a tensor that outlives runs. It belongs to a session, or to the sessions that share resources.
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

/// The nodes of a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    handle: Port,
    snapshot: Port,
    initializer: NodeId,
    initial_value: Option<Port>,
    by_ref: bool,
    trainable: bool,
}

/// The collections of a new variable.
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
///
/// ```
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let steps = g.variable("steps", 0);
/// let init = g.global_variables_initializer();
/// let count = steps.assign_add(1);
/// let session = Session::new(&g)?;
/// session.run::<()>(init, feed![])?;
/// for _ in 0..3 {
///     session.run::<()>(count, feed![])?;
/// }
/// assert_eq!(session.run::<i32>(steps.value(), feed![])?, 3);
/// # Ok::<(), millstream::Error>(())
/// ```
pub trait Variables {
    /// Adds a variable held by a resource handle, with its initial value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.variable("w", [1.0f32, 2.0]);
    /// let session = Session::new(&g)?;
    /// session.run::<()>(w.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<f32>>(w.value(), feed![])?, [1.0, 2.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn variable<'g>(&'g self, name: &str, initial: impl Into<Value<'g>>) -> Variable<'g>;

    /// Adds a variable held by reference, as TensorFlow 1 does by default.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.ref_variable("w", 1.0f32);
    /// assert!(w.is_ref());
    /// let session = Session::new(&g)?;
    /// session.run::<()>(w.assign(2.0f32), feed![])?;
    /// assert_eq!(session.run::<f32>(w.value(), feed![])?, 2.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn ref_variable<'g>(&'g self, name: &str, initial: impl Into<Value<'g>>) -> Variable<'g>;

    /// Adds an operation that assigns all current variables, except the local ones, their initial values.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let (a, b) = (g.variable("a", 1.0f32), g.variable("b", 2.0f32));
    /// let init = g.global_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// assert_eq!(session.run::<f32>(a.value() + b.value(), feed![])?, 3.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn global_variables_initializer(&self) -> Op<'_>;

    /// Adds an operation that assigns the local variables their initial values.
    ///
    /// ```
    /// use millstream::VariableScopes as _;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let seen = g.get_variable_from("seen", 0i64).local().build()?;
    /// let init = g.local_variables_initializer();
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// assert_eq!(session.run::<i64>(seen.value(), feed![])?, 0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn local_variables_initializer(&self) -> Op<'_>;

    /// Adds an operation that assigns these variables their initial values.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let (a, b) = (g.variable("a", 1.0f32), g.variable("b", 2.0f32));
    /// let init = g.variables_initializer(&[a], "init_a");
    /// let session = Session::new(&g)?;
    /// session.run::<()>(init, feed![])?;
    /// assert_eq!(session.run::<f32>(a.value(), feed![])?, 1.0);
    /// assert!(session.run::<f32>(b.value(), feed![]).is_err()); // has no value yet
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    fn variables_initializer<'g>(&'g self, variables: &[Variable<'g>], name: &str) -> Op<'g>;

    /// Returns the variables of a collection, including those of an imported `MetaGraphDef`.
    ///
    /// ```
    /// use millstream::TRAINABLE_VARIABLES;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.variable("w", 1.0f32);
    /// assert_eq!(g.variables_in(TRAINABLE_VARIABLES)[0].name(), "w");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn variables_in(&self, collection: &str) -> Vec<Variable<'_>>;

    /// Returns all variables except the local ones: the content of a checkpoint.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.variable("w", 1.0f32);
    /// g.variable("b", 1.0f32);
    /// let names: Vec<String> = g.global_variables().iter().map(|v| v.name()).collect();
    /// assert_eq!(names, ["w", "b"]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn global_variables(&self) -> Vec<Variable<'_>> {
        self.variables_in(GLOBAL_VARIABLES)
    }

    /// Returns the variables that training updates.
    ///
    /// ```
    /// use millstream::VariableScopes as _;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.variable("w", 1.0f32);
    /// g.get_variable_from("mean", 0.0f32).trainable(false).build()?;
    /// assert_eq!(g.trainable_variables().len(), 1);
    /// assert_eq!(g.global_variables().len(), 2);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn trainable_variables(&self) -> Vec<Variable<'_>> {
        self.variables_in(TRAINABLE_VARIABLES)
    }

    /// Returns the variables that are not saved.
    ///
    /// ```
    /// use millstream::VariableScopes as _;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// g.get_variable_from("seen", 0i64).local().build()?;
    /// assert_eq!(g.local_variables()[0].name(), "seen");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    fn local_variables(&self) -> Vec<Variable<'_>> {
        self.variables_in(LOCAL_VARIABLES)
    }

    /// Returns the names of those of these variables that have no value yet, as a vector of strings.
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
            let has = self.named("stack").at(at).pack(has.collect::<Vec<_>>());
            let left = self.at(at).array().where_(self.at(at).logical_not(has));
            let rows = self.at(at).with("squeeze_dims", vec![1i64]).squeeze(left);
            self.at(at).gather(names, rows, 0)
        })
    }
}

/// Adds a variable held by a handle; `initial` adds its initial value, in a scope of its own.
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
            g.name_scope("IsInitialized", || g.at(at).state().var_is_initialized_op(handle));
            let initializer = g.named("Assign").at(at).state().assign_variable_op(handle, initial);
            let snapshot = g.name_scope("Read", || read(handle, initial, at));
            Variable::new(g, [handle, snapshot, initial], initializer, false).listed(listing)
        })
    })
}

/// Adds a variable held by reference.
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
            let initializer = g.at(at).state().assign(handle, initial).op();
            let snapshot = g.named("read").at(at).identity(handle);
            Variable::new(g, [handle, snapshot, initial], initializer, true).listed(listing)
        })
    })
}

/// Starts the node that holds a variable of the type of `initial`, with the name of the current scope.
fn declare<'g>(
    g: &'g Graph,
    op: &'static str,
    initial: Output<'g>,
    at: &'static Location<'static>,
) -> millstream_graph::OpBuilder<'g> {
    let node = g.named(g.scope()).at(at).with("shape", initial.shape()).start(op);
    // An initial value without a dtype is a mistake that the graph has remembered.
    initial.dtype().map_or(g.at(at).start(op), |dtype| node.attr("dtype", dtype))
}

fn read<'g>(handle: Output<'g>, like: Output<'g>, at: &'static Location<'static>) -> Output<'g> {
    like.dtype().map_or(like, |dtype| handle.graph().at(at).state().read_variable_op(handle, dtype))
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

    /// Returns the variable of these parts.
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

    /// Returns the message that collections hold.
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

    /// Returns the variable of a message, if the graph has all of its nodes.
    fn from_message(graph: &'g Graph, message: &VariableDef) -> Option<Variable<'g>> {
        let port = |name: &str| graph.output(name).ok().map(|o| o.port());
        let parts = Parts {
            handle: port(&message.variable_name)?,
            snapshot: port(&message.snapshot_name)?,
            initializer: graph.find(&message.initializer_name)?.id(),
            initial_value: port(&message.initial_value_name),
            by_ref: !message.is_resource,
            trainable: message.trainable,
        };
        Some(Variable { graph, parts })
    }

    /// Returns the name, under which checkpoints store it.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert_eq!(g.variable("v", 1.0f32).name(), "v");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn name(&self) -> String {
        self.handle().op().name()
    }

    /// Returns the graph.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// assert!(w.graph().operation("w").is_ok());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// Returns the resource handle, or the reference.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// assert_eq!(w.handle().dtype()?, DType::Resource);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn handle(&self) -> Output<'g> {
        Output::new(self.graph, self.parts.handle)
    }

    /// Returns whether the variable is held by reference, TensorFlow 1's default, rather than by a handle.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert!(!g.variable("w", 1.0f32).is_ref());
    /// assert!(g.ref_variable("v", 1.0f32).is_ref());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn is_ref(&self) -> bool {
        self.parts.by_ref
    }

    /// Returns whether training updates it by default.
    ///
    /// ```
    /// use millstream::VariableScopes as _;
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert!(g.variable("w", 1.0f32).is_trainable());
    /// assert!(!g.get_variable_from("mean", 0.0f32).trainable(false).build()?.is_trainable());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn is_trainable(&self) -> bool {
        self.parts.trainable
    }

    /// Returns the operation that assigns the initial value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let v = g.variable("v", 1.0f32);
    /// let session = Session::new(&g)?;
    /// session.run::<()>(v.initializer(), feed![])?;
    /// assert_eq!(session.run::<f32>(v.read(), feed![])?, 1.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn initializer(&self) -> Op<'g> {
        Op::new(self.graph, self.parts.initializer)
    }

    /// Returns the initial value, if it is known.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.variable("w", [1.0f32, 2.0]);
    /// let start = w.initial_value().expect("a variable of this program");
    /// assert_eq!(Session::new(&g)?.run::<Vec<f32>>(start, feed![])?, [1.0, 2.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn initial_value(&self) -> Option<Output<'g>> {
        self.parts.initial_value.map(|port| Output::new(self.graph, port))
    }

    /// Returns the value from one read that all users share. The read need not see updates of the same run.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.variable("w", 3.0f32);
    /// let y = w.value() * w.value() + 1.0; // one read
    /// let session = Session::new(&g)?;
    /// session.run::<()>(w.initializer(), feed![])?;
    /// assert_eq!(session.run::<f32>(y, feed![])?, 10.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn value(&self) -> Output<'g> {
        Output::new(self.graph, self.parts.snapshot)
    }

    /// Returns whether the variable has a value, as a `bool` scalar.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let v = g.variable("v", 1.0f32);
    /// let known = v.is_initialized();
    /// let session = Session::new(&g)?;
    /// assert!(!session.run::<bool>(known, feed![])?);
    /// session.run::<()>(v.initializer(), feed![])?;
    /// assert!(session.run::<bool>(known, feed![])?);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn is_initialized(&self) -> Output<'g> {
        let op = if self.parts.by_ref { "IsVariableInitialized" } else { "VarIsInitializedOp" };
        self.graph.start(op).input(self.handle()).output()
    }

    /// Returns the dtype of the value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// assert_eq!(g.variable("w", 1.0f32).dtype()?, DType::F32);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn dtype(&self) -> Result<DType> {
        self.value().dtype()
    }

    /// Returns the known part of the value's shape.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let v = g.variable("v", [1.0f32, 2.0]);
    /// assert_eq!(v.shape().to_string(), "[2]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn shape(&self) -> PartialShape {
        self.value().shape()
    }

    /// Returns the value from a new read, which runs after the current control dependencies.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.variable("w", 1.0f32);
    /// let after = g.control_dependencies([w.assign(5.0f32)], || w.read()); // sees the assignment
    /// assert_eq!(Session::new(&g)?.run::<f32>(after, feed![])?, 5.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn read(&self) -> Output<'g> {
        match self.parts.by_ref {
            true => self.graph.identity(self.handle()),
            false => read(self.handle(), self.value(), Location::caller()),
        }
    }

    /// Replaces the value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let v = g.variable("v", 1.0f32);
    /// let set = v.assign(5.0f32);
    /// let session = Session::new(&g)?;
    /// session.run::<()>(set, feed![])?;
    /// assert_eq!(session.run::<f32>(v.read(), feed![])?, 5.0);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn assign(&self, value: impl Into<Arg<'g>>) -> Op<'g> {
        self.update("Assign", "AssignVariableOp", value.into())
    }

    /// Adds to the value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let v = g.variable("v", 1.0f32);
    /// let add = v.assign_add(0.5f32);
    /// let session = Session::new(&g)?;
    /// session.run::<()>(v.initializer(), feed![])?;
    /// session.run::<()>(add, feed![])?;
    /// assert_eq!(session.run::<f32>(v.read(), feed![])?, 1.5);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn assign_add(&self, value: impl Into<Arg<'g>>) -> Op<'g> {
        self.update("AssignAdd", "AssignAddVariableOp", value.into())
    }

    /// Subtracts from the value.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let v = g.variable("v", 1.0f32);
    /// let less = v.assign_sub(0.25f32);
    /// let session = Session::new(&g)?;
    /// session.run::<()>(v.initializer(), feed![])?;
    /// session.run::<()>(less, feed![])?;
    /// assert_eq!(session.run::<f32>(v.read(), feed![])?, 0.75);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    #[track_caller]
    pub fn assign_sub(&self, value: impl Into<Arg<'g>>) -> Op<'g> {
        self.update("AssignSub", "AssignSubVariableOp", value.into())
    }

    #[track_caller]
    fn update(&self, by_ref: &'static str, by_handle: &'static str, value: Arg<'g>) -> Op<'g> {
        let op = if self.parts.by_ref { by_ref } else { by_handle };
        let node = self.graph.start(op).input(self.handle()).input(value);
        match self.value().dtype() {
            // A literal takes the variable's dtype, which a handle does not have.
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

/// The handle or reference, with respect to which gradients are taken.
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
