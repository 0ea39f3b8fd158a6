//! How graphs run: program, plan, step. The dataflow machine is the meaning of a graph.
//!
//! Start at [`Plan`] (how a program is laid out), `machine` (how it runs) and [`region`] (how loops run as
//! code). Knows ops by their role, never by their name.

mod errors;
mod function;
mod ids;
mod iterations;
mod machine;
mod order;
mod partial;
mod plan;
mod poll;
mod probe;
mod progress;
mod reference;
pub mod region;
mod step;
mod sync;
mod tiles;
mod trace;
mod variable;

pub use errors::timed_out;
pub use function::PreparedFunction;
pub use iterations::Iterations;
pub use partial::Partial;
pub use plan::{Account, Fate, MAX_LIVE_ITERATIONS, Pass, Passes, Plan, PlanOptions};
pub use poll::Poll;
pub use probe::{Condition, Sighting, Test, Watches};
pub use progress::{LoopCount, Progress};
pub use reference::Reference;
pub use step::{Outcome, RunOptions, Runner};
pub use trace::{Event, Seen, Trace};
