//! `QueueClose`, `QueueCloseV2`: closes a queue.

use super::queues::{generations, queue, user, waiter};
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef};
use millstream_state::Closing;
use smallvec::SmallVec;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["QueueClose", "QueueCloseV2"], |name, by| {
        user(name, by)
            .doc(
                "Closes the queue: later enqueues fail, and the items in the queue can still be dequeued. \
                 The op waits for pending enqueues; if `cancel_pending_enqueues` is true, it cancels them \
                 with `CANCELLED` instead. Closing a closed queue is an error.",
            )
            .attr("cancel_pending_enqueues", Bool.or(false))
            .kernel(Kernel::waiting(start))
    })
}

fn start(cx: &mut KernelCx, completion: Completion) {
    let asked = queue(cx).and_then(|queue| Ok((queue, cx.attrs().bool("cancel_pending_enqueues")?)));
    match asked {
        Err(error) => completion.complete(Err(error)),
        Ok((queue, cancel)) => {
            let why = cx.env.why.as_deref().map(str::to_owned);
            let closing = Closing { by: cx.node.name.clone(), why, cancelled_pending: cancel };
            queue.close(cancel, closing, waiter(cx, completion, |_| Ok(SmallVec::new())));
        }
    }
}

cases! {
    gives_nothing: "QueueCloseV2(resource[]; cancel_pending_enqueues=true) :",
}
