//! Control flow: [`Graph::while_loop`], [`Graph::cond`], the functions made of them, and the primitives that
//! they are lowered to.
//!
//! The nodes, their names and the order in which they are made are those of TensorFlow's control flow v1
//! (`while/Enter`, `while/Merge`, `while/Less`, `while/LoopCond`, `while/Switch`, `while/Identity`,
//! `while/NextIteration`, `while/Exit`), so that graphs look the same in both and travel both ways.
//!
//! [`Graph::while_loop`]: crate::Graph::while_loop
//! [`Graph::cond`]: crate::Graph::cond

mod case;
mod cond;
mod deps;
pub(crate) mod fixpoint;
mod invariants;
mod lower;
mod open;
mod primitive;
mod raw;
mod while_loop;

pub use case::{BranchFn, CaseBuilder};
pub use invariants::{ShapeNest, Shapes, VarPath};
pub use open::{LoopVar, OpenLoop};
pub use primitive::Primitive;
pub use raw::BackEdge;
pub use while_loop::{Checkpoint, WhileBuilder};
