//! `QueueEnqueueMany`, `QueueEnqueueManyV2`: enqueues a batch of items.

use super::queues::{components, generations, hands_in, no_timeout, queue, rows, user, waiter};
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef};
use millstream_state::{Item, Queue};
use millstream_tensor::Result;
use smallvec::SmallVec;
use std::sync::Arc;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueEnqueueMany", "QueueEnqueueManyV2"], |name, by| {
        hands_in(user(name, by))
            .doc(
                "Enqueues one item for each row of `components`, in order, as capacity becomes available. \
                 If the op is cancelled while it waits, the items already enqueued stay in the queue.",
            )
            .kernel(Kernel::waiting(start).at_once(at_once))
    })
}

fn at_once(cx: &mut KernelCx) -> Result<bool> {
    no_timeout(cx.attrs())?;
    let queue = queue(cx)?;
    // This check avoids splitting rows that would have to wait. If it is outdated, the only cost is that they
    // are split again.
    let n_rows = cx.inputs().get(1).and_then(|first| first.shape().first().copied()).unwrap_or(0);
    if !queue.has_room(n_rows) {
        return Ok(false);
    }
    queue.try_enqueue_many(rows(&cx.inputs()[1..], &queue)?)
}

fn start(cx: &mut KernelCx, completion: Completion) {
    match asked(cx) {
        Err(error) => completion.complete(Err(error)),
        Ok((queue, rows)) => queue.enqueue(rows, waiter(cx, completion, |_| Ok(SmallVec::new()))),
    }
}

fn asked(cx: &mut KernelCx) -> Result<(Arc<Queue>, Vec<Item>)> {
    no_timeout(cx.attrs())?;
    let queue = queue(cx)?;
    let rows = rows(&components(cx), &queue)?;
    Ok((queue, rows))
}

cases! {
    infers_nothing: "QueueEnqueueManyV2(resource[], f32[?,3]) :",
    hands_in: "QueueEnqueueManyV2(FIFOQueueV2(; component_types={f32}), [1.0 2.0]) =",
    nothing: "QueueEnqueueManyV2(FIFOQueueV2(; component_types={f32}, capacity=0), f32[0] []) =",
    as_many_rows_each: "QueueEnqueueManyV2(FIFOQueueV2(; component_types={f32, i32}), [1.0 2.0], [1]) ! component 0 has 2 rows, component 1 has 1",
    has_rows: "QueueEnqueueManyV2(FIFOQueueV2(; component_types={f32}), 1.0) ! it cannot be a scalar",
}
