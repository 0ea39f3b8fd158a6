//! `BarrierIncompleteSize`: the number of elements of a barrier that lack a component.

use super::barriers::{barrier, counts, size, user};
use millstream_graph::op::{Kernel, OpDef};

pub(crate) fn def() -> OpDef {
    counts(user("BarrierIncompleteSize"))
        .doc("Returns the current number of elements of the barrier that lack a component.")
        .kernel(Kernel::stateful(|cx| {
            let n = barrier(cx)?.n_incomplete();
            cx.set(0, size(n));
            Ok(())
        }))
}

cases! {
    starts_at_nothing: "BarrierIncompleteSize(Barrier(; component_types={f32}, shapes={shape[]})) = 0",
    wants_a_barrier: "BarrierIncompleteSize(FIFOQueue(; component_types={f32})) ! which BarrierIncompleteSize cannot use",
}
