//! `QueueDequeueUpTo`, `QueueDequeueUpToV2`: dequeues a batch of items, the last of which may be smaller.

use super::queue_dequeue_many::{Way, at_once, start};
use super::queues::{generations, takes_out, user};
use millstream_graph::op::{Kernel, OpDef};
use millstream_state::Take;
use millstream_tensor::DType;

const UP_TO: Way = (Take::UpTo, "DequeueUpToOp");

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueDequeueUpTo", "QueueDequeueUpToV2"], |name, by| {
        takes_out(user(name, by).input("n", DType::I32).on_host())
            .doc(
                "Dequeues `n` items as QueueDequeueManyV2 does. Once the queue is closed, the remaining \
                 items form a smaller batch. The op fails with `OUT_OF_RANGE` once the queue is closed and \
                 empty.",
            )
            .kernel(
                Kernel::waiting(|cx, completion| start(cx, completion, UP_TO))
                    .at_once(|cx| at_once(cx, UP_TO)),
            )
    })
}

cases! {
    infers: "QueueDequeueUpToV2(resource[], 3; component_types={f32, i32}) : f32[..], i32[..]",
    one_number: "QueueDequeueUpToV2(FIFOQueueV2(; component_types={f32}, shapes={shape[]}), i32[0] []; component_types={f32}) ! `n` must be a scalar",
}
