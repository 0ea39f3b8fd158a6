//! Graphs in and out of TensorFlow's messages.
//!
//! [`read_graph`] reads what a file holds, [`import_graph_def`] adds the nodes of a `GraphDef` to a
//! [`Graph`](millstream_graph::Graph), [`import_meta_graph`] those of a `MetaGraphDef` with its collections and contexts;
//! [`export_graph_def`] and [`export_meta_graph`] lead back. Bytes and text are `millstream_proto`'s.
//!
//! Never runs a graph and reads no file. What it reads may come from anywhere: nothing here panics on it, recursion does not
//! grow with it, and memory is bounded by what the options allow.

mod allowance;
mod attrs;
mod contexts;
mod definitions;
mod export;
mod file;
mod flat;
mod functions;
mod import;
mod meta;
mod signature;
mod types;

pub use definitions::{decode_attr, op_def};
pub use export::{add_output_shapes, export_graph_def, export_meta_graph, export_node_def};
pub use file::{GraphFile, read_graph};
pub use functions::{MissingOp, missing_ops};
pub use import::{Element, ImportOptions, Imported, import_graph_def};
pub use meta::import_meta_graph;
pub use millstream_proto as proto;
