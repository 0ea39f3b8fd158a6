//! `QueueEnqueue`, `QueueEnqueueV2`: enqueues one item.

use super::queues::{
    components, generations, hands_in, no_timeout, put_back, queue, user, waiter, with_queue,
};
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef};
use millstream_state::Item;
use millstream_tensor::Result;
use smallvec::SmallVec;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueEnqueue", "QueueEnqueueV2"], |name, by| {
        hands_in(user(name, by))
            .doc(
                "Enqueues one item made of `components`. The op waits while the queue is full, and fails \
                 with `CANCELLED` once the queue is closed.",
            )
            .kernel(Kernel::waiting(start).at_once(at_once))
    })
}

fn at_once(cx: &mut KernelCx) -> Result<bool> {
    no_timeout(cx.attrs())?;
    with_queue(cx, |cx, queue| {
        let item = Item::new(components(cx))?;
        match queue.try_enqueue(item)? {
            None => Ok(true),
            Some(item) => {
                put_back(cx, item);
                Ok(false)
            }
        }
    })
}

fn start(cx: &mut KernelCx, completion: Completion) {
    match queue(cx).and_then(|queue| Ok((queue, Item::new(components(cx))?))) {
        Err(error) => completion.complete(Err(error)),
        Ok((queue, item)) => {
            queue.enqueue(vec![item], waiter(cx, completion, |_| Ok(SmallVec::new())));
        }
    }
}

cases! {
    hands_in: "QueueEnqueueV2(FIFOQueueV2(; component_types={f32}), 1.0) =",
    by_its_old_name: "QueueEnqueue(FIFOQueue(; component_types={f32, i32}), 1.0, [1 2]) =",
    of_its_types: "QueueEnqueueV2(FIFOQueueV2(; component_types={f32}), 1) ! component 0 of FIFOQueue",
    all_components: "QueueEnqueueV2(FIFOQueueV2(; component_types={f32}), 1.0, 2.0) ! has 1 components, not 2",
    of_its_shapes: "QueueEnqueueV2(FIFOQueueV2(; component_types={f32}, shapes={shape[2]}), 1.0) ! Expected [2], got []",
    wants_a_queue: "QueueEnqueueV2(@i32 1, 1.0) ! refers to a variable",
    knows_no_timeout: "QueueEnqueueV2(FIFOQueueV2(; component_types={f32}), 1.0; timeout_ms=5) ! `timeout_ms` = 5",
}
