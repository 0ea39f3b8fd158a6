//! Millstream: a dataflow engine for programs with real loops in them.

pub use millstream_exec as exec;
pub use millstream_graph as graph;
pub use millstream_interop as interop;
pub use millstream_ops::registry;
pub use millstream_runtime as runtime;
pub use millstream_tensor as tensor;

pub use millstream_derive::Nest;
pub use millstream_graph::{Arg, Graph, IndexedSlices, IntoNest, Nest, Op, Output, SparseTensor, nest};
pub use millstream_runtime::{Callable, RunOptions, Session, SessionOptions, feed};
pub use millstream_tensor::{Code, DType, Error, PartialShape, Result, Shape, Tensor, shape};

/// What a program needs: `use millstream::prelude::*`.
pub mod prelude {
    pub use crate::{
        Arg, Build, Callable, DType, Graph, IndexedSlices, Nest, Op, Output, Result, Session, SparseTensor,
        Tensor, feed, shape,
    };
}

/// Makes graphs over the whole op library.
pub trait Build {
    /// An empty graph.
    fn new() -> Graph;
}

impl Build for Graph {
    fn new() -> Graph {
        Graph::with_ops(registry())
    }
}
