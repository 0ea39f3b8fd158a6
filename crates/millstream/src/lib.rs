//! Millstream: a dataflow engine for programs with real loops in them.
//!
//! A [`Graph`] is built once, loops and branches included, and run any number of times by a [`Session`]:
//!
//! ```
//! use millstream::prelude::*;
//!
//! let g = Graph::new();
//! let n = g.placeholder::<i32>("n", shape![]);
//! let (i, m) = g
//!     .while_loop((g.constant(0), g.ones::<f32>([2, 2])))
//!     .shape_invariants((shape![], shape![_, 2]))
//!     .run(|(i, _)| i.less(n), |(i, m)| (i + 1, g.concat(0, [m, m])))?;
//!
//! let session = Session::new(&g)?;
//! let (i, m): (i32, Tensor) = session.run((i, m), feed![n => 3])?;
//! assert_eq!(i, 3);
//! assert_eq!(m.shape().dims(), [16, 2]);
//! # Ok::<(), millstream::Error>(())
//! ```
//!
//! Where to look:
//!
//! - every op, one method each: [`Ops`] on graphs, [`OutputOps`] on values; their attributes and names through [`Start`];
//! - what TensorFlow's Python functions add to that: [`Functions`], [`Methods`], [`Variables`], [`VariableScopes`], [`Gradients`];
//! - loops and branches: [`Graph::while_loop`], [`Graph::cond`], [`Graph::case`], and [`derive@Nest`] for structs of values;
//! - running: [`Session::run`], [`Session::make_callable`], [`SessionOptions`];
//! - functions of the program as nodes: [`HostFunctions`];
//! - looking inside of loops: [`every`] fetches the values of all iterations, a [`Watch`] stops a run where a value is not what it should be.
//!
//! A mistake made while building is remembered with its line, and returned by the next call that gives a [`Result`].

mod axes;
pub mod contrib;
pub mod decode;
mod functional;
pub mod host;
mod initializer;
pub mod lookup;
mod md5;
mod ops;
mod options;
pub mod parsing;
mod queue;
pub mod reader;
pub mod rnn;
mod sugar;
pub mod summary;
mod tensor_array;
pub mod train;
mod value;
mod variable;
mod variable_scope;

pub use millstream_autodiff as autodiff;
pub use millstream_exec as exec;
pub use millstream_graph as graph;
pub use millstream_interop as interop;
pub use millstream_ops::registry;
pub use millstream_runtime as runtime;
pub use millstream_tensor as tensor;

pub use axes::Axes;
pub use decode::Decode;
pub use functional::{Fold, HigherOrder, Map, Scan};
pub use host::HostFunctions;
pub use initializer::{Fan, Initializer, Spread};
pub use millstream_autodiff::{Derivatives, Gradients, GradientsBuilder};
pub use millstream_checkpoint as checkpoint;
pub use millstream_derive::Nest;
pub use millstream_graph::{Arg, Graph, IndexedSlices, IntoNest, Nest, Op, Output, SparseTensor, nest};
pub use millstream_runtime::{
    Callable, Coordinator, Iterations, QUEUE_RUNNERS, QueueRunner, ResourceEntry, ResourceManager,
    RunOptions, Session, SessionOptions, ShowProgress, Sighting, Watch, every, feed,
};
pub use millstream_state::{Closing, Purpose, QueueReport, Waiting};
pub use millstream_tensor::{Code, DType, Error, PartialShape, Result, Shape, Tensor, shape};
pub use ops::{Ops, OutputOps};
pub use options::{Options, Start};
pub use queue::{Components, Queue, QueueBuilder, Queues, RunQueues};
pub use reader::Reader;
pub use rnn::Recurrent;
pub use sugar::{DEFAULT_GRAPH_SEED, Functions, Methods};
pub use tensor_array::{TensorArray, TensorArrayBuilder};
pub use value::Value;
pub use variable::{
    GLOBAL_STEP, GLOBAL_VARIABLES, LOCAL_VARIABLES, REGULARIZATION_LOSSES, TRAIN_OP, TRAINABLE_VARIABLES,
    Variable, Variables,
};
pub use variable_scope::{GetVariable, Reuse, ScopeBuilder, ScopeName, VariableScope, VariableScopes};

/// What a program needs: `use millstream::prelude::*`.
pub mod prelude {
    pub use crate::{
        Arg, Build, Callable, Coordinator, DType, Decode, Derivatives, Functions, Gradients, Graph,
        HigherOrder, HostFunctions, IndexedSlices, Initializer, Methods, Nest, Op, Ops, Output, OutputOps,
        Queue, QueueRunner, Queues, Recurrent, Result, Reuse, RunQueues, Session, SparseTensor, Start,
        Tensor, TensorArray, Variable, VariableScopes, Variables, every, feed, shape,
    };
}

/// Makes graphs over the whole op library.
pub trait Build: Sized {
    /// An empty graph.
    fn new() -> Self;
}

impl Build for Graph {
    fn new() -> Graph {
        Graph::with_ops(registry())
    }
}
