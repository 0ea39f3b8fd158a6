//! [`bucket_by_sequence_length()`]: buckets by length, separated by boundaries.

use super::bucket::BucketBuilder;
use super::settings::{BatchSize, Settings, Which};
use crate::options::Start;
use millstream_graph::nest::Converter;
use millstream_graph::{IntoNest, Output};
use millstream_tensor::Result;
use std::panic::Location;

/// An element preceded by its length.
pub struct WithLength<'g, T> {
    length: Output<'g>,
    tensors: T,
}

impl<T> std::fmt::Debug for WithLength<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WithLength").field("length", &self.length).finish_non_exhaustive()
    }
}

impl<'g, T: IntoNest<'g>> IntoNest<'g> for WithLength<'g, T> {
    type Nest = (Output<'g>, T::Nest);

    fn into_nest(self, cx: &Converter<'g, '_>) -> Result<Self::Nest> {
        (self.length, self.tensors).into_nest(cx)
    }
}

/// Batches elements of similar length: [`bucket`](super::bucket()) with a bucket for `length <
/// boundaries[0]`, one for `boundaries[0] <= length < boundaries[1]`, and so on; the last bucket takes all
/// longer elements. The boundaries must increase.
///
/// The result's `outputs` are the lengths, `int32[batch]`, and the batch.
///
/// Definition: TensorFlow's `tf.contrib.training.bucket_by_sequence_length`.
///
/// ```
/// use millstream::contrib::training::bucket_by_sequence_length;
/// use millstream::prelude::*;
/// use millstream::{Queue, RunQueues};
///
/// let g = Graph::new();
/// let sequences = Queue::fifo(&g, 10, [DType::I32]).build()?;
/// let x = g.placeholder::<i32>("x", shape![_]);
/// let (put, end) = (sequences.enqueue([x])?, sequences.close());
/// let [sequence] = sequences.dequeue()?.all()?;
/// let sequence = sequence.set_shape(shape![_]);
///
/// let length = g.size(sequence);
/// let batches = bucket_by_sequence_length(&g, length, sequence, 2, [3])
///     .dynamic_pad(true)
///     .padding_value("0", -1)
///     .allow_smaller_final_batch(true)
///     .run()?;
/// let (lengths, batch) = batches.outputs;
///
/// let session = Session::new(&g)?;
/// for sequence in [vec![1], vec![2, 2, 2], vec![3, 3], vec![4, 4, 4, 4]] {
///     session.run::<()>(put, feed![x => sequence])?;
/// }
/// session.run::<()>(end, feed![])?;
/// let mut seen = Vec::new();
/// session.with_queue_runners(|_| loop {
///     let (lengths, batch): (Vec<i32>, Tensor) = session.run((lengths, batch), feed![])?;
///     seen.push((lengths, batch.to_string()));
/// } as Result<()>)?;
/// seen.sort();
/// assert_eq!(seen[0], (vec![1, 2], "i32[2,2] [[1 -1] [3 3]]".into()));
/// assert_eq!(seen[1], (vec![3, 4], "i32[2,4] [[2 2 2 -1] [4 4 4 4]]".into()));
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn bucket_by_sequence_length<'g, T: IntoNest<'g>>(
    g: impl Start<'g>,
    input_length: Output<'g>,
    tensors: T,
    batch_size: impl Into<BatchSize<'g>>,
    boundaries: impl IntoIterator<Item = i64>,
) -> BucketBuilder<'g, WithLength<'g, T>> {
    let boundaries: Vec<i64> = boundaries.into_iter().collect();
    let num_buckets = boundaries.len() + 1;
    let which = Which::Length(input_length, boundaries);
    let settings = Settings::new(which, batch_size.into(), num_buckets, Location::caller());
    BucketBuilder { options: g.options(), tensors: WithLength { length: input_length, tensors }, settings }
}
