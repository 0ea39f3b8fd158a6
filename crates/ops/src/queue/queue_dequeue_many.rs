//! `QueueDequeueMany`, `QueueDequeueManyV2`: takes a batch out.

use super::queues::{batch, generations, no_timeout, queue, takes_batches, takes_out, user, waiter};
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef};
use millstream_state::{Queue, Take};
use millstream_tensor::{DType, Result, ensure};
use std::sync::Arc;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueDequeueMany", "QueueDequeueManyV2"], |name, by| {
        takes_out(user(name, by).input("n", DType::I32).on_host())
            .doc(
                "Takes `n` items out and puts them together in a batch, component by component. Waits until there are so many; \
                 `OUT_OF_RANGE` once the queue is closed and has fewer, which stay in it.",
            )
            .kernel(
                Kernel::waiting(|cx, completion| start(cx, completion, Take::Exactly))
                    .at_once(|cx| at_once(cx, Take::Exactly)),
            )
    })
}

/// Takes as many items as input 1 says, in this way, if they can be had at once.
pub(super) fn at_once(cx: &mut KernelCx, take: fn(usize) -> Take) -> Result<bool> {
    let (queue, n) = asked(cx)?;
    let Some(items) = queue.try_dequeue(take(n))? else { return Ok(false) };
    for (i, component) in batch(&queue, &items)?.into_iter().enumerate() {
        cx.set(i, component);
    }
    Ok(true)
}

/// Takes them as they come.
pub(super) fn start(cx: &mut KernelCx, completion: Completion, take: fn(usize) -> Take) {
    match asked(cx) {
        Err(error) => completion.complete(Err(error)),
        Ok((queue, n)) => {
            let of = queue.clone();
            queue.dequeue(take(n), waiter(cx, completion, move |items| batch(&of, &items)));
        }
    }
}

fn asked(cx: &KernelCx) -> Result<(Arc<Queue>, usize)> {
    no_timeout(cx.attrs())?;
    let queue = queue(cx)?;
    takes_batches(&queue, cx.node)?;
    let n = cx.int(1)?;
    let words = if cx.node.op.name.contains("UpTo") { "DequeueUpToOp" } else { "DequeueManyOp" };
    ensure!(n >= 0, "{words} requested {n} < 0 elements"; "{queue:?}: cannot take {n} items out; `n` must not be negative");
    Ok((queue, n as usize))
}

cases! {
    infers: "QueueDequeueManyV2(resource[], 3; component_types={f32, i32}) : f32[..], i32[..]",
    none_less_than_nothing: "QueueDequeueManyV2(FIFOQueueV2(; component_types={f32}, shapes={shape[]}), -1; component_types={f32}) ! `n` must not be negative",
    needs_shapes: "QueueDequeueManyV2(FIFOQueueV2(; component_types={f32}), 1; component_types={f32}) ! require the components to have specified shapes",
    none_of_much: "QueueDequeueManyV2(FIFOQueueV2(; component_types={f32}, shapes={shape[4611686018427387904]}), 0; component_types={f32}) = f32[0,4611686018427387904] []",
}
