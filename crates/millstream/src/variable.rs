//! [`Variable`]: what a session keeps between runs.

use crate::options::Start;
use crate::value::Value;
use millstream_graph::{Arg, CollectionItem, Graph, Op, Output};
use millstream_tensor::PartialShape;
use std::panic::Location;

/// The collection of all variables.
pub const GLOBAL_VARIABLES: &str = "variables";

/// The collection of the variables that training changes.
pub const TRAINABLE_VARIABLES: &str = "trainable_variables";

/// Operations that give variables their initial values, in the order they were made.
const INITIALIZERS: &str = "initializers";

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
#[derive(Clone, Copy, Debug)]
pub struct Variable<'g> {
    handle: Output<'g>,
    snapshot: Output<'g>,
    initializer: Op<'g>,
    by_ref: bool,
}

/// Variables of a graph.
pub trait Variables {
    /// A variable held by a resource handle, with its initial value.
    #[track_caller]
    fn variable<'g>(&'g self, name: &str, initial: impl Into<Value<'g>>) -> Variable<'g>;

    /// A variable held by reference, as TensorFlow 1 makes them by default.
    #[track_caller]
    fn ref_variable<'g>(&'g self, name: &str, initial: impl Into<Value<'g>>) -> Variable<'g>;

    /// An operation that gives all variables made so far their initial values.
    #[track_caller]
    fn global_variables_initializer(&self) -> Op<'_>;
}

impl Variables for Graph {
    #[track_caller]
    fn variable<'g>(&'g self, name: &str, initial: impl Into<Value<'g>>) -> Variable<'g> {
        let at = Location::caller();
        self.without_control(|| {
            self.name_scope(name, || {
                let full = self.scope();
                let initial = initial.into();
                let initial = self.name_scope("Initializer", || initial.place(self, "initial_value", at));
                let handle = declare(self, "VarHandleOp", initial, at)
                    .attr("shared_name", full.trim_end_matches('/'))
                    .output();
                self.name_scope("IsInitialized", || {
                    self.op("VarIsInitializedOp").at(at).input(handle).finish()
                });
                let assign = self.op("AssignVariableOp").name("Assign").at(at);
                let initializer = assign.input(handle).input(initial).finish();
                let snapshot = self.name_scope("Read", || read(handle, initial, at));
                Variable { handle, snapshot, initializer, by_ref: false }.listed()
            })
        })
    }

    #[track_caller]
    fn ref_variable<'g>(&'g self, name: &str, initial: impl Into<Value<'g>>) -> Variable<'g> {
        let at = Location::caller();
        self.without_control(|| {
            self.name_scope(name, || {
                let initial = initial.into().place(self, "initial_value", at);
                let handle = declare(self, "VariableV2", initial, at).output();
                let initializer = self.op("Assign").at(at).input(handle).input(initial).finish();
                let snapshot = self.op("Identity").name("read").at(at).input(handle).output();
                Variable { handle, snapshot, initializer, by_ref: true }.listed()
            })
        })
    }

    #[track_caller]
    fn global_variables_initializer(&self) -> Op<'_> {
        let names = self.collection(INITIALIZERS).into_iter().filter_map(|item| match item {
            CollectionItem::Node(name) => self.operation(&name).ok(),
            _ => None,
        });
        let ops: Vec<Op<'_>> = names.collect();
        ops.into_iter().fold(self.start_as("NoOp", "init"), |node, op| node.control(op)).finish()
    }
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
    fn listed(self) -> Self {
        let g = self.handle.graph();
        for collection in [GLOBAL_VARIABLES, TRAINABLE_VARIABLES] {
            g.add_to_collection(collection, CollectionItem::Node(self.handle.name()));
        }
        g.add_to_collection(INITIALIZERS, CollectionItem::Node(self.initializer.name()));
        self
    }

    /// The resource handle, or the reference.
    pub fn handle(&self) -> Output<'g> {
        self.handle
    }

    /// The operation that gives it its initial value.
    pub fn initializer(&self) -> Op<'g> {
        self.initializer
    }

    /// What is known of the shape of its value.
    pub fn shape(&self) -> PartialShape {
        self.snapshot.shape()
    }

    /// Its value, read after what the current control dependencies name.
    #[track_caller]
    pub fn read(&self) -> Output<'g> {
        match self.by_ref {
            true => self.handle.graph().op("Identity").input(self.handle).output(),
            false => read(self.handle, self.snapshot, Location::caller()),
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
        let op = if self.by_ref { by_ref } else { by_handle };
        let node = self.handle.graph().op(op).input(self.handle).input(value);
        match self.snapshot.dtype() {
            // A literal takes the variable's dtype, which a handle does not show.
            Ok(dtype) if !self.by_ref => node.attr("dtype", dtype).finish(),
            _ => node.finish(),
        }
    }
}
