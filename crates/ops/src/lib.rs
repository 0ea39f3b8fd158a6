//! The op library: one file per op, in families. A file contains the declaration, the shape rule, the kernel,
//! the gradient and the examples of its op; the family's `mod.rs` lists the file. A new op needs no other
//! edit. Helpers of several families are in `shared`, arithmetic in `number`.
//!
//! The library schedules nothing and starts no thread.

#[macro_use]
mod macros;
#[macro_use]
mod shared;

mod accumulator;
mod array;
mod audio;
mod builtin;
pub mod cases;
mod collective;
mod control;
mod dataset;
mod debug;
mod features;
#[cfg(feature = "input")]
mod image;
mod io;
mod linalg;
mod list;
mod lookup;
mod math;
mod nn;
mod number;
#[cfg(feature = "input")]
mod parsing;
mod queue;
mod random;
#[cfg(feature = "input")]
mod reader;
mod reduce;
mod segment;
mod sparse;
mod state;
mod step;
mod strings;
#[cfg(feature = "summary")]
mod summary;

pub use features::feature_of;
use millstream_graph::op::{OpDef, Registry, lone};
use std::sync::OnceLock;

/// Declarations of all op types of the library, for a registry that has others beside them.
pub fn defs() -> Vec<OpDef> {
    families().into_iter().flat_map(|(_, defs)| defs).collect()
}

/// The families by name, with their op types.
pub fn families() -> Vec<(&'static str, Vec<OpDef>)> {
    vec![
        ("accumulator", accumulator::defs()),
        ("array", array::defs()),
        ("audio", audio::defs()),
        ("collective", collective::defs()),
        ("control", control::defs()),
        ("dataset", dataset::defs()),
        ("debug", debug::defs()),
        #[cfg(feature = "input")]
        ("image", image::defs()),
        ("io", io::defs()),
        ("linalg", linalg::defs()),
        ("list", list::defs()),
        ("lookup", lookup::defs()),
        ("math", math::defs()),
        ("nn", nn::defs()),
        #[cfg(feature = "input")]
        ("parsing", parsing::defs()),
        ("queue", queue::defs()),
        ("random", random::defs()),
        #[cfg(feature = "input")]
        ("reader", reader::defs()),
        ("reduce", reduce::defs()),
        ("segment", segment::defs()),
        ("sparse", sparse::defs()),
        ("state", state::defs()),
        ("step", step::defs()),
        ("strings", strings::defs()),
        #[cfg(feature = "summary")]
        ("summary", summary::defs()),
    ]
}

/// All op types of the library.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        Registry::new(defs())
            .with_fold(|node, inputs| lone::fold(node, inputs, &lone::Bounds::of_one()))
            .with_builtins(builtin::start)
            .with_features(feature_of)
    })
}
