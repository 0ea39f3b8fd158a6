//! `BarrierReadySize`: the number of elements of a barrier that have all components.

use super::barriers::{barrier, counts, size, user};
use millstream_graph::op::{Kernel, OpDef};

pub(crate) fn def() -> OpDef {
    counts(user("BarrierReadySize"))
        .doc("Returns the current number of elements of the barrier that have all components.")
        .kernel(Kernel::stateful(|cx| {
            let n = barrier(cx)?.n_ready();
            cx.set(0, size(n));
            Ok(())
        }))
}

cases! {
    starts_at_nothing: "BarrierReadySize(Barrier(; component_types={f32}, shapes={shape[]})) = 0",
    wants_a_barrier: "BarrierReadySize(FIFOQueue(; component_types={f32})) ! which BarrierReadySize cannot use",
}
