//! Program, plan, step: how graphs run. The dataflow machine is the meaning of a graph.
//!
//! Start at [`Plan`] (what is laid out) and `machine` (what happens). Knows ops by their role, never by their name.

pub mod lone;
mod machine;
mod partial;
mod plan;
mod reference;
mod step;
mod trace;

pub use partial::Partial;
pub use plan::{MAX_LIVE_ITERATIONS, Plan, PlanOptions};
pub use reference::Reference;
pub use step::{Outcome, RunOptions, Runner};
pub use trace::{Event, Trace};
