//! What outlives a step: named resources, variables, and the means to call work off.
//!
//! Knows no graph and runs no kernel.

mod cancel;
mod resources;
mod variable;

pub use cancel::{Cancellation, Registration};
pub use resources::Resources;
pub use variable::Variable;
