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
//! - loops and branches: [`Graph::while_loop`](BareGraph::while_loop), [`Graph::cond`](BareGraph::cond),
//!   [`Graph::case`](BareGraph::case), and [`derive@Nest`] for structs of values;
//! - every op once: the common ones as methods of graphs ([`Ops`]) and values ([`OutputOps`]), the others by
//!   family, `g.nn().bias_add(x, b)` ([`ops`]); their attributes and names through [`Start`];
//! - TensorFlow's Python functions on top of the ops: [`Functions`], [`Methods`], [`Variables`],
//!   [`VariableScopes`], [`Gradients`], [`HigherOrder`];
//! - running: [`Session::run`], [`Session::make_callable`], [`SessionOptions`];
//! - functions of the program as nodes: [`HostFunctions`];
//! - looking inside loops: [`every`] fetches the values of all iterations, and a [`Watch`] stops a run at an
//!   unwanted value; [`Session::explain`] tells what a run does, and [`svg()`] draws a graph;
//! - training: [`train::Optimizer`], [`train::Saver`], [`mod@checkpoint`]; recurrent nets: [`rnn`],
//!   [`decode`];
//! - input: [`Queue`], [`Barrier`] and [`QueueRunner`], [`train::batch()`], [`contrib::training`] with
//!   bucketing by length, [`mod@reader`], [`parsing`], [`lookup`]; reports for TensorBoard: [`summary`];
//! - TensorFlow's graph files: [`interop`]. What such a graph feeds and fetches has names:
//!   `session.run("root:0", feed!["a:0" => 2.0])`.
//!
//! Features, on by default: `arrays` (arrays of the crate `ndarray` are fed and fetched; [`npy`]), `avx512`,
//! `input` ([`mod@reader`], [`parsing`], regular expressions, images, datasets of files), `jit`, `spectra`
//! (singular values, eigenvalues, least squares, Fourier transforms), `summary` ([`mod@summary`]) and
//! `tf-files` ([`interop`], [`mod@checkpoint`], [`train::Saver`]). A graph that has an op of a feature that
//! is off gets an error that names the feature. Off by default: `store`, `store-tls` and `mpi`.
//!
//! A mistake made while building is remembered with its line, and the next call that returns a [`Result`]
//! returns it.
//!
//! Builders end in one of two verbs: `run` adds nodes and returns their values (`g.while_loop(vars).run(cond,
//! body)`, `g.gradients(ys, xs).run()`, `train::batch(&g, x, 32).run()`); `build` returns an object with
//! methods of its own (`TensorArray::of::<f32>(&g, n).build()`, `Queue::fifo(&g, 10, dtypes).build()`,
//! `g.get_variable("w", [2, 3]).build()`).

mod about;
mod axes;
mod barrier;
pub mod contrib;
pub mod decode;
mod functional;
mod graph;
pub mod host;
mod initializer;
pub mod lookup;
mod md5;
pub mod ops;
mod options;
#[cfg(feature = "input")]
pub mod parsing;
mod queue;
#[cfg(feature = "input")]
pub mod reader;
pub mod rnn;
mod sugar;
#[cfg(feature = "summary")]
pub mod summary;
#[cfg(not(feature = "summary"))]
#[path = "no_summary.rs"]
mod summary;
mod tensor_array;
pub mod train;
mod value;
mod variable;
mod variable_scope;

pub use about::about;
pub use axes::Axes;
pub use barrier::{Barrier, BarrierBuilder, Elements};
pub use decode::Decode;
pub use functional::{Fold, HigherOrder, Map, Scan};
pub use graph::Graph;
pub use host::HostFunctions;
pub use initializer::{Fan, Initializer, Spread};
#[doc(inline)]
pub use millstream_autodiff::{Derivatives, Gradients, GradientsBuilder};
#[doc(inline)]
pub use millstream_derive::Nest;
#[doc(inline)]
pub use millstream_graph::picture::PictureOptions;
#[doc(inline)]
pub use millstream_graph::{
    Arg, Attr, Attrs, CollectionItem, Grad, Graph as BareGraph, IndexedSlices, IntoNest, Nest, NodeId, Op,
    OpBuilder, Output, Port, SparseTensor, ValueType, WhileBuilder, dot, nest, svg,
};
#[doc(inline)]
pub use millstream_ops::registry;
#[doc(inline)]
pub use millstream_runtime::{
    Callable, CodeExplanation, Coordinator, Explanation, Fate, FeedKey, FeedList, Feeds, Fetch, FetchList,
    Fetched, FileAccess, Folder, FromFetched, Holdings, Iterations, LoopExplanation, LoopProgress, LoopWay,
    Measured, NodeExplanation, PartialRun, Parts as SplitParts, Pass, Passes, PlaceExplanation, Progress,
    QUEUE_RUNNERS, QueueRunner, Residuals, ResourceEntry, ResourceManager, RunMetadata, RunOptions, Session,
    SessionOptions, ShowProgress, Sighting, Split, Target, Tier, VariableReport, Watch, every, feed,
};
#[doc(inline)]
pub use millstream_state::{Closing, Purpose, QueueReport, Waiting};
#[cfg(feature = "arrays")]
#[doc(inline)]
pub use millstream_tensor::npy;
#[doc(inline)]
pub use millstream_tensor::{
    C64, C128, Code, DType, Element, Error, FromTensor, IntoTensor, PartialShape, QInt8, QInt16, QInt32,
    QUInt8, QUInt16, Result, Shape, Str, Tensor, bf16, f16, shape,
};
pub use ops::{Ops, OutputOps};
pub use options::{Options, Start};
pub use queue::{Components, Queue, QueueBuilder, Queues, RunQueues};
#[cfg(feature = "input")]
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

/// TensorFlow's graph files: messages to graphs and back.
#[cfg(feature = "tf-files")]
pub mod interop {
    #[doc(inline)]
    pub use millstream_interop::{
        GraphFile, ImportOptions, Imported, MissingOp, export_graph_def, export_meta_graph, import_graph_def,
        import_meta_graph, missing_ops, proto, read_graph, read_graph_within,
    };
}

/// Files of tensors by name (TensorFlow's checkpoints and safetensors), and files of records.
#[cfg(feature = "tf-files")]
pub mod checkpoint {
    #[doc(inline)]
    pub use millstream_checkpoint::{
        Checkpoint, Info, Item, State, exists, latest_checkpoint, merge, records, remove, write, write_whole,
    };
}

/// The declarations of op types, for a [`Graph::with_ops`] of one's own.
pub mod op {
    #[doc(inline)]
    pub use millstream_graph::op::{
        ArgSpec, AttrKind, AttrSpec, Completion, Count, Effect, GradCx, Gradient, InferCx, Kernel, KernelCx,
        OpDef, Registry, Role, TypeSpec,
    };
    #[doc(inline)]
    pub use millstream_ops::defs;
}

/// The crates beneath this one, for the front ends of this project. Nothing in here is stable.
#[doc(hidden)]
pub mod engine {
    pub use millstream_autodiff as autodiff;
    #[cfg(feature = "tf-files")]
    pub use millstream_checkpoint as checkpoint;
    pub use millstream_exec as exec;
    pub use millstream_graph as graph;
    #[cfg(feature = "tf-files")]
    pub use millstream_interop as interop;
    pub use millstream_ops as ops;
    pub use millstream_runtime as runtime;
    pub use millstream_state as state;
    pub use millstream_tensor as tensor;
}

/// What a first program needs: `use millstream::prelude::*`.
///
/// Traits come without their names, for their methods. Everything else is imported by name.
pub mod prelude {
    pub use crate::{
        DType, Error, Graph, Nest, Op, Output, PartialShape, Result, Session, Shape, Tensor, Variable, feed,
        shape,
    };
    pub use crate::{
        Functions as _, Gradients as _, HigherOrder as _, Methods as _, Ops as _, OutputOps as _, Start as _,
        Variables as _,
    };
}

/// The programs of README.md and of the documentation's pages, as doc tests.
#[cfg(doctest)]
#[expect(rustdoc::invalid_codeblock_attributes, reason = "the titles of blocks are for the site")]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/pages/first-loop.md")]
    struct FirstLoop;
    #[doc = include_str!("../../../docs/pages/loops.md")]
    struct Loops;
    #[doc = include_str!("../../../docs/pages/input.md")]
    struct Input;
    #[doc = include_str!("../../../docs/pages/training.md")]
    struct Training;
    #[doc = include_str!("../../../docs/pages/looking-inside.md")]
    struct LookingInside;
    #[doc = include_str!("../../../docs/pages/graphs.md")]
    struct Graphs;
    #[doc = include_str!("../../../docs/pages/errors.md")]
    struct Errors;
    #[doc = include_str!("../../../docs/pages/limits.md")]
    struct Limits;
    #[doc = include_str!("../../../docs/pages/architecture.md")]
    struct Architecture;
}
