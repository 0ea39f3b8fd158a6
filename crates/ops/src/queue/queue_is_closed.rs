//! `QueueIsClosed`, `QueueIsClosedV2`: whether a queue is closed.

use super::queue_size::scalar;
use super::queues::{generations, queue, user};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::{DType, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueIsClosed", "QueueIsClosedV2"], |name, by| {
        user(name, by)
            .doc("Returns whether the queue is closed. A closed queue may still hold items.")
            .output("is_closed", DType::Bool)
            .infer(scalar)
            .kernel(Kernel::stateful(|cx| {
                let closed = queue(cx)?.is_closed();
                cx.set(0, Tensor::scalar(closed));
                Ok(())
            }))
    })
}

cases! {
    infers: "QueueIsClosedV2(resource[]) : bool[]",
    one_handle: "QueueIsClosedV2(resource[0]) ! `handle` must be a scalar",
}
