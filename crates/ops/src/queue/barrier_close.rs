//! `BarrierClose`: closes a barrier.

use super::barriers::{barrier, user};
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_state::Closing;
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    user("BarrierClose")
        .doc(
            "Closes the barrier: keys that it does not have are refused, while elements that lack a component \
             can still be completed. If `cancel_pending_enqueues` is true, those elements are dropped, and \
             nothing can be inserted any more. Closing a closed barrier is an error, unless only the second \
             closing has `cancel_pending_enqueues`.",
        )
        .attr("cancel_pending_enqueues", Bool.or(false))
        .kernel(Kernel::stateful(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let cancelled_pending = cx.attrs().bool("cancel_pending_enqueues")?;
    let why = cx.env.why.as_deref().map(str::to_owned);
    barrier(cx)?.close(Closing { by: cx.node.name.clone(), why, cancelled_pending })
}

cases! {
    closes: "BarrierClose(Barrier(; component_types={f32}, shapes={shape[]})) =",
    cancels: "BarrierClose(Barrier(; component_types={f32}, shapes={shape[]}); cancel_pending_enqueues=true) =",
    wants_a_barrier: "BarrierClose(FIFOQueue(; component_types={f32})) ! which BarrierClose cannot use",
}
