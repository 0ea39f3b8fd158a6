//! `QueueSize`, `QueueSizeV2`: the number of items in a queue.

use super::queues::{Counts, generations, one_handle, queue, user};
use millstream_graph::op::{Completion, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Tensor};
use smallvec::smallvec;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueSize", "QueueSizeV2"], |name, by| {
        user(name, by)
            .doc("Returns the current number of items in the queue.")
            .output("size", DType::I32)
            .infer(scalar)
            .kernel(Kernel::waiting(start).at_once(at_once))
    })
}

fn at_once(cx: &mut KernelCx) -> Result<bool> {
    let queue = queue(cx)?;
    match Counts::of(cx.attrs()) {
        Some(Counts::Filtered) => queue.count(|tally| tally.filtered += 1),
        Some(Counts::OutOfRange) => queue.count(|tally| tally.out_of_range += 1),
        Some(Counts::Rows) | None => {}
    }
    if queue.is_elsewhere() {
        return Ok(false);
    }
    cx.set(0, size(queue.len()));
    Ok(true)
}

fn start(cx: &mut KernelCx, completion: Completion) {
    look_up(cx, completion, |len, _| size(len));
}

fn size(len: usize) -> Tensor {
    Tensor::scalar(i32::try_from(len).unwrap_or(i32::MAX))
}

/// Asks a queue that lives elsewhere for its size, and whether it is closed. `output` makes the output.
pub(super) fn look_up(cx: &mut KernelCx, completion: Completion, output: fn(usize, bool) -> Tensor) {
    match queue(cx) {
        Err(error) => completion.complete(Err(error)),
        Ok(queue) => {
            let looked = Box::new(move |looked: Result<(usize, bool)>| {
                completion.complete(looked.map(|(len, closed)| smallvec![output(len, closed)]));
            });
            queue.look_up(cx.node.name.as_str().into(), &cx.env.cancel, looked);
        }
    }
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
