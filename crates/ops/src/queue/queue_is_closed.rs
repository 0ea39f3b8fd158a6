//! `QueueIsClosed`, `QueueIsClosedV2`: whether a queue is closed.

use super::queue_size::{look_up, scalar};
use super::queues::{generations, queue, user};
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueIsClosed", "QueueIsClosedV2"], |name, by| {
        user(name, by)
            .doc("Returns whether the queue is closed. A closed queue may still hold items.")
            .output("is_closed", DType::Bool)
            .infer(scalar)
            .kernel(Kernel::waiting(start).at_once(at_once))
    })
}

fn at_once(cx: &mut KernelCx) -> Result<bool> {
    let queue = queue(cx)?;
    if queue.is_elsewhere() {
        return Ok(false);
    }
    cx.set(0, Tensor::scalar(queue.is_closed()));
    Ok(true)
}

fn start(cx: &mut KernelCx, completion: Completion) {
    look_up(cx, completion, |_, closed| Tensor::scalar(closed));
}

cases! {
    infers: "QueueIsClosedV2(resource[]) : bool[]",
    one_handle: "QueueIsClosedV2(resource[0]) ! `handle` must be a scalar",
}
