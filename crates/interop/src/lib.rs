//! Graphs from and to TensorFlow's messages.
//!
//! [`read_graph`] reads the bytes of a file, [`import_graph_def`] adds the nodes of a `GraphDef` to a
//! [`Graph`](millstream_graph::Graph), [`import_meta_graph`] those of a `MetaGraphDef` with its collections
//! and contexts; [`export_graph_def`] and [`export_meta_graph`] do the reverse. Bytes and text are
//! `millstream_proto`'s.
//!
//! This crate never runs a graph and reads no file. Its input is not trusted: nothing here panics on it,
//! recursion does not grow with it, and memory is bounded by the options.

mod allowance;
mod attrs;
mod contexts;
mod definitions;
mod export;
mod file;
mod flat;
mod function_def;
mod functions;
mod import;
mod meta;
mod signature;
mod types;

pub use definitions::{decode_attr, op_def};
pub use export::{add_output_shapes, export_graph_def, export_meta_graph, export_node_def};
pub use file::{GraphFile, check_text_weight, check_weight, decode_graph_def, read_graph, read_graph_within};
pub use functions::{MissingOp, missing_ops};
pub use import::{Element, ImportOptions, Imported, import_graph_def};
pub use meta::import_meta_graph;
pub use millstream_proto as proto;
