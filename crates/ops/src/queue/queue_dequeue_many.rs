//! `QueueDequeueMany`, `QueueDequeueManyV2`: dequeues a batch of items.

use super::queues::{batch, generations, no_timeout, queue, takes_batches, takes_out, user, waiter};
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef};
use millstream_state::{Queue, Take};
use millstream_tensor::{DType, Result, ensure};
use std::sync::Arc;

/// How many items are taken at least, and the name of the kernel in TensorFlow's messages.
pub(super) type Way = (fn(usize) -> Take, &'static str);

const EXACTLY: Way = (Take::Exactly, "DequeueManyOp");

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueDequeueMany", "QueueDequeueManyV2"], |name, by| {
        takes_out(user(name, by).input("n", DType::I32).on_host())
            .doc(
                "Dequeues `n` items and stacks their components into a batch. The op waits until there are \
                 `n` items. It fails with `OUT_OF_RANGE` once the queue is closed and has fewer, which stay \
                 in the queue.",
            )
            .kernel(
                Kernel::waiting(|cx, completion| start(cx, completion, EXACTLY))
                    .at_once(|cx| at_once(cx, EXACTLY)),
            )
    })
}

/// Dequeues as many items as input 1 requires, if that is possible without waiting. Returns whether it was.
pub(super) fn at_once(cx: &mut KernelCx, (take, words): Way) -> Result<bool> {
    let (queue, n) = asked(cx, words)?;
    let Some(items) = queue.try_dequeue(take(n))? else { return Ok(false) };
    for (i, component) in batch(&queue, items)?.into_iter().enumerate() {
        cx.set(i, component);
    }
    Ok(true)
}

/// Dequeues as many items as input 1 requires, as soon as they are available.
pub(super) fn start(cx: &mut KernelCx, completion: Completion, (take, words): Way) {
    match asked(cx, words) {
        Err(error) => completion.complete(Err(error)),
        Ok((queue, n)) => {
            let of = queue.clone();
            queue.dequeue(take(n), waiter(cx, completion, move |items| batch(&of, items)));
        }
    }
}

fn asked(cx: &KernelCx, words: &str) -> Result<(Arc<Queue>, usize)> {
    no_timeout(cx.attrs())?;
    let queue = queue(cx)?;
    takes_batches(&queue, cx.node)?;
    let n = cx.int(1)?;
    ensure!(n >= 0, "{words} requested {n} < 0 elements"; "{queue:?}: cannot take {n} items out; `n` must not be negative");
    Ok((queue, n as usize))
}

cases! {
    infers: "QueueDequeueManyV2(resource[], 3; component_types={f32, i32}) : f32[..], i32[..]",
    none_less_than_nothing: "QueueDequeueManyV2(FIFOQueueV2(; component_types={f32}, shapes={shape[]}), -1; component_types={f32}) ! `n` must not be negative",
    needs_shapes: "QueueDequeueManyV2(FIFOQueueV2(; component_types={f32}), 1; component_types={f32}) ! require the components to have specified shapes",
    none_of_much: "QueueDequeueManyV2(FIFOQueueV2(; component_types={f32}, shapes={shape[4611686018427387904]}), 0; component_types={f32}) = f32[0,4611686018427387904] []",
}
