//! Graphs: nodes and edges, what an op is, shape inference, control-flow builders, the verifier, the text form.
//!
//! Never evaluates, and names no op but the structural ones.

pub mod attr;
pub mod op;

pub use attr::{Attr, Attrs, FuncRef, ValueType};
