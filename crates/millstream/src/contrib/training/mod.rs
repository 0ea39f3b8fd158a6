//! Batches of elements of similar size: [`bucket`], [`bucket_by_sequence_length`].

mod bucket;
mod by_length;
mod settings;
mod statistics;

pub use bucket::{BucketBuilder, Bucketed, bucket};
pub use by_length::{WithLength, bucket_by_sequence_length};
pub use settings::BatchSize;
pub use statistics::{BucketStatistics, Statistics};
