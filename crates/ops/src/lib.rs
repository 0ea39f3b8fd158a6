//! The op library: one file per op, in families. A file holds the declaration, the shape rule, the kernel and the examples
//! that test it; a family's `mod.rs` lists its files. Nothing else needs to know of a new op.
//!
//! Schedules nothing, spawns nothing.

#[macro_use]
mod macros;

mod array;
pub mod cases;
mod control;
mod debug;
mod dims;
mod io;
mod linalg;
mod list;
mod lookup;
#[macro_use]
pub(crate) mod math;
mod named;
mod nn;
mod number;
mod parsing;
mod queue;
mod random;
mod reader;
mod reduce;
mod segment;
mod sparse;
mod state;
mod step;
mod strings;
mod summary;

use millstream_graph::op::{Effect, NodeInfo, OpDef, Registry};
use millstream_tensor::Tensor;
use std::sync::OnceLock;

/// Declarations of all op types of the library, for a registry that has others beside them.
pub fn defs() -> Vec<OpDef> {
    [
        array::defs(),
        control::defs(),
        debug::defs(),
        io::defs(),
        linalg::defs(),
        list::defs(),
        lookup::defs(),
        math::defs(),
        nn::defs(),
        parsing::defs(),
        queue::defs(),
        random::defs(),
        reader::defs(),
        reduce::defs(),
        segment::defs(),
        sparse::defs(),
        state::defs(),
        step::defs(),
        strings::defs(),
        summary::defs(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// All op types of the library.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| Registry::new(defs()).with_fold(fold))
}

/// Computes a pure node of known inputs: how graphs learn the values of shapes and sizes while they are built.
fn fold(node: &NodeInfo, inputs: &[Tensor]) -> Option<Vec<Tensor>> {
    match node.op.kernel.effect {
        Effect::Pure => cases::run(node, &cases::lone_env(), inputs).ok(),
        _ => None,
    }
}
