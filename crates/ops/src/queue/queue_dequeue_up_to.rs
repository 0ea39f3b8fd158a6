//! `QueueDequeueUpTo`, `QueueDequeueUpToV2`: takes a batch out, the last of which may be smaller.

use super::queue_dequeue_many::{at_once, start};
use super::queues::{generations, takes_out, user};
use millstream_graph::op::{Kernel, OpDef};
use millstream_state::Take;
use millstream_tensor::DType;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueDequeueUpTo", "QueueDequeueUpToV2"], |name, by| {
        takes_out(user(name, by).input("n", DType::I32).on_host())
            .doc(
                "Takes `n` items out as QueueDequeueManyV2 does; once the queue is closed, what is left of it makes a smaller batch. \
                 `OUT_OF_RANGE` once it is closed and empty.",
            )
            .kernel(
                Kernel::waiting(|cx, completion| start(cx, completion, Take::UpTo))
                    .at_once(|cx| at_once(cx, Take::UpTo)),
            )
    })
}

cases! {
    infers: "QueueDequeueUpToV2(resource[], 3; component_types={f32, i32}) : f32[..], i32[..]",
    one_number: "QueueDequeueUpToV2(FIFOQueueV2(; component_types={f32}, shapes={shape[]}), i32[0] []; component_types={f32}) ! `n` must be a scalar",
}
