//! Training: [`Optimizer`]s as operations of the graph, clipping of gradients, schedules of learning rates, and the [`Saver`].

mod clip;
mod optimizer;
mod rules;
mod saved_model;
mod saver;
mod schedule;

pub use clip::Clipping;
pub use optimizer::{GradAndVar, Optimizer};
pub use rules::Rate;
pub use saved_model::restore_saved_model;
pub use saver::{Saver, SaverBuilder, latest_checkpoint};
pub use schedule::Schedules;
