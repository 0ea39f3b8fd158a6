//! `QueueDequeue`, `QueueDequeueV2`: dequeues one item.

use super::queues::{
    Counts, check_types, count_rows, generations, no_timeout, queue, takes_out, user, waiter, with_queue,
};
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef};
use millstream_state::{Item, Take};
use millstream_tensor::Result;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueDequeue", "QueueDequeueV2"], |name, by| {
        takes_out(user(name, by))
            .doc(
                "Dequeues one item. The op waits while the queue is empty, and fails with `OUT_OF_RANGE` \
                 once the queue is closed and empty.",
            )
            .kernel(Kernel::waiting(start).at_once(at_once))
    })
}

fn at_once(cx: &mut KernelCx) -> Result<bool> {
    no_timeout(cx.attrs())?;
    with_queue(cx, |cx, queue| {
        check_types(queue, cx.node)?;
        let Some(item) = queue.try_dequeue_one()? else { return Ok(false) };
        if Counts::of(cx.attrs()) == Some(Counts::Rows) {
            count_rows(queue, &item);
        }
        for (i, value) in item.components().into_iter().enumerate() {
            cx.set(i, value);
        }
        Ok(true)
    })
}

fn start(cx: &mut KernelCx, completion: Completion) {
    match queue(cx) {
        Err(error) => completion.complete(Err(error)),
        Ok(queue) => {
            let (of, counts) = (queue.clone(), Counts::of(cx.attrs()));
            let waiter = waiter(cx, completion, move |items| {
                if counts == Some(Counts::Rows) {
                    items.iter().for_each(|item| count_rows(&of, item));
                }
                Ok(items.used().into_iter().flat_map(Item::components).collect())
            });
            queue.dequeue(Take::Exactly(1), waiter);
        }
    }
}

cases! {
    of_its_types: "QueueDequeueV2(FIFOQueueV2(; component_types={f32}); component_types={i32}) ! holds components of {f32}, but `component_types` is {i32}",
    infers: "QueueDequeueV2(resource[]; component_types={f32, i32}) : f32[..], i32[..]",
    wants_a_queue: "QueueDequeueV2(@i32 1; component_types={f32}) ! refers to a variable",
}
