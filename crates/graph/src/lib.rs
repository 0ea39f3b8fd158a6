//! Graphs: nodes and edges, what an op is, shape inference, control-flow builders, the verifier, the text
//! form.
//!
//! This crate never evaluates, and names no op but the structural ones.

pub mod attr;
mod blocks;
mod builder;
mod composite;
mod context;
mod dot;
mod entity;
pub mod flow;
mod function;
mod graph;
mod ids;
mod imported;
mod listing;
pub mod loops;
pub mod nest;
mod node;
pub mod op;
pub mod outline;
mod output;
pub mod picture;
mod program;
mod references;
mod sort;
mod text;
mod unique;
mod verify;
mod within;

pub use attr::{Attr, Attrs, FuncRef, ValueType};
pub use builder::{Arg, OpBuilder, weak_cast};
pub use composite::{Grad, IndexedSlices, ListItem, SparseTensor};
pub use context::{CondContext, Context, ContextId, ContextKind, WhileContext};
pub use dot::dot;
pub use entity::{Dense, Entity};
pub use flow::WhileBuilder;
pub use function::Function;
pub use graph::{CollectionItem, Graph, GraphData};
pub use ids::{FrameId, NodeId, Port};
pub use imported::{Absent, Mark};
pub use loops::LoopTree;
pub use nest::{IntoNest, Nest};
pub use node::Node;
pub use output::{Op, Output};
pub use picture::svg;
pub use program::{Asked, Frame, Index, Program, ProgramKind, ProgramNode, Source};
pub use references::Access;
pub use sort::{Sorted, topological};
pub use unique::Unique;
pub use verify::MAX_DEPTH;
pub use within::Within;
