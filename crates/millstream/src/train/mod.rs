//! Training: [`Optimizer`]s as operations of the graph, clipping of gradients, schedules of learning rates, the [`Saver`], and what
//! feeds it: producers ([`string_input_producer`], ..).

mod clip;
mod optimizer;
mod producer;
mod rules;
mod saved_model;
mod saver;
mod schedule;

pub use clip::Clipping;
pub use optimizer::{GradAndVar, Optimizer};
pub use producer::{
    InputProducer, SliceInputProducer, input_producer, limit_epochs, range_input_producer,
    slice_input_producer, string_input_producer,
};
pub use rules::Rate;
pub use saved_model::restore_saved_model;
pub use saver::{Saver, SaverBuilder, latest_checkpoint};
pub use schedule::Schedules;
