//! Training: [`Optimizer`]s as operations of the graph, gradient clipping, learning rate schedules, the
//! [`Saver`], and input: producers ([`string_input_producer`], ..) and batches ([`fn@batch`], ..). On several
//! processes: [`distributed`].

mod batch;
mod clip;
pub mod distributed;
mod optimizer;
mod producer;
mod rules;
#[cfg(feature = "tf-files")]
mod saved_model;
#[cfg(feature = "tf-files")]
mod saver;
mod schedule;
pub(crate) mod sparse;

pub use batch::{
    Batching, InOrder, Joined, One, Shuffled, batch, batch_join, maybe_batch, maybe_batch_join,
    maybe_shuffle_batch, maybe_shuffle_batch_join, shuffle_batch, shuffle_batch_join,
};
pub use clip::Clipping;
pub use optimizer::{GradAndVar, Optimizer};
pub use producer::{
    InputProducer, SliceInputProducer, input_producer, limit_epochs, range_input_producer,
    slice_input_producer, string_input_producer,
};
pub use rules::Rate;
#[cfg(feature = "tf-files")]
pub use saved_model::restore_saved_model;
#[cfg(feature = "tf-files")]
pub use saver::{Saver, SaverBuilder, latest_checkpoint};
pub use schedule::Schedules;
