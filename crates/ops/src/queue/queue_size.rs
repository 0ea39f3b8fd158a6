//! `QueueSize`, `QueueSizeV2`: the number of items in a queue.

use super::queues::{Counts, generations, one_handle, queue, user};
use millstream_graph::op::{InferCx, Kernel, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueSize", "QueueSizeV2"], |name, by| {
        user(name, by)
            .doc("Returns the current number of items in the queue.")
            .output("size", DType::I32)
            .infer(scalar)
            .kernel(Kernel::stateful(|cx| {
                let queue = queue(cx)?;
                match Counts::of(cx.attrs()) {
                    Some(Counts::Filtered) => queue.count(|tally| tally.filtered += 1),
                    Some(Counts::OutOfRange) => queue.count(|tally| tally.out_of_range += 1),
                    Some(Counts::Rows) | None => {}
                }
                let len = queue.len();
                cx.set(0, Tensor::scalar(i32::try_from(len).unwrap_or(i32::MAX)));
                Ok(())
            }))
    })
}

/// Sets a scalar as the shape of the output.
pub(super) fn scalar(cx: &mut InferCx) -> Result<()> {
    cx.set(0, PartialShape::unknown_of_rank(0));
    one_handle(cx)
}

cases! {
    infers: "QueueSizeV2(resource[]) : i32[]",
    wants_a_queue: "QueueSizeV2(@i32 1) ! refers to a variable",
    one_handle: "QueueSizeV2(resource[2]) ! `handle` must be a scalar",
}
