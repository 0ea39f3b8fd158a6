//! `BarrierTakeMany`: takes complete elements out of a barrier.

use super::barriers::{barrier, user};
use super::queues::{batch, no_timeout, waiter};
use crate::shared::handles::one_handle;
use millstream_graph::op::spec::{Bool, Int, Spec, TypesFrom1};
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef, Outputs};
use millstream_state::{Barrier, Dequeued, dtype_names};
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, PartialShape, Result, ensure, invalid};
use std::sync::Arc;

pub(crate) fn def() -> OpDef {
    user("BarrierTakeMany")
        .doc(
            "Takes `num_elements` elements that have all components, and stacks their components into a batch. \
             `indices` are the numbers of the insertions that brought their keys, counted from -2^63. The op \
             waits until there are enough elements. It fails with `OUT_OF_RANGE` once the barrier is closed \
             and cannot have as many. If `allow_small_batch` is true, the elements that are complete when the \
             barrier is closed form a smaller batch. `wait_for_incomplete` has no effect, as in TensorFlow.",
        )
        .input("num_elements", DType::I32)
        .on_host()
        .output("indices", DType::I64)
        .output("keys", DType::Str)
        .output_list("values", "component_types")
        .attr("component_types", TypesFrom1)
        .attr("allow_small_batch", Bool.or(false))
        .attr("wait_for_incomplete", Bool.or(false))
        .attr("timeout_ms", Int.or(-1))
        .infer(|cx| {
            cx.scalar(1)?;
            for i in 0..cx.n_outputs() {
                cx.set(i, PartialShape::unknown());
            }
            one_handle(cx)
        })
        .kernel(Kernel::waiting(start))
}

fn start(cx: &mut KernelCx, completion: Completion) {
    match asked(cx) {
        Err(error) => completion.complete(Err(error)),
        Ok((barrier, n, allow_small_batch)) => {
            let of = barrier.clone();
            barrier.take(n, allow_small_batch, waiter(cx, completion, move |items| stacked(&of, items)));
        }
    }
}

fn asked(cx: &KernelCx) -> Result<(Arc<Barrier>, usize, bool)> {
    no_timeout(cx.attrs())?;
    let barrier = barrier(cx)?;
    let (held, wanted) = (barrier.dtypes(), cx.attrs().dtypes("component_types")?);
    if held != wanted {
        let [have, expected] = [&wanted, held].map(|dtypes| dtype_names(dtypes.iter().copied()));
        return Err(invalid!(
            "Signature mismatch, have: string_ref, int32->int64, string, {have} expected: string_ref, int32->int64, string, {expected}";
            "{barrier:?} holds components of {expected}, but `component_types` is {have}"
        ));
    }
    let n = cx.int(1)?;
    ensure!(0 <= n, "{barrier:?}: cannot take {n} elements; `num_elements` must not be negative");
    Ok((barrier, n as usize, cx.attrs().bool("allow_small_batch")?))
}

/// Stacks the components of the elements. If that fails, the elements return to the barrier.
fn stacked(barrier: &Barrier, items: Dequeued) -> Outputs {
    let Some(first) = items.first() else { return batch(barrier.ready(), items) };
    let mut pace = Pace::new();
    for (i, value) in items.iter().flat_map(|item| item.iter().enumerate()) {
        pace.spend(1)?;
        ensure!(
            value.shape() == first[i].shape(),
            "component {} of {barrier:?} has shape {} in one element and {} in another, which make no batch",
            i.saturating_sub(2),
            first[i].shape(),
            value.shape()
        );
    }
    batch(barrier.ready(), items)
}

cases! {
    nothing: "BarrierTakeMany(Barrier(; component_types={f32}, shapes={shape[2]}), 0; component_types={f32}) = i64[0] [], str[0] [], f32[0,2] []",
    not_less_than_nothing: "BarrierTakeMany(Barrier(; component_types={f32}, shapes={shape[]}), -1; component_types={f32}) ! `num_elements` must not be negative",
    of_its_types: "BarrierTakeMany(Barrier(; component_types={f32}, shapes={shape[]}), 1; component_types={i32}) ! holds components of float, but `component_types` is int32",
    one_number: "BarrierTakeMany(Barrier(; component_types={f32}, shapes={shape[]}), [1]; component_types={f32}) ! `num_elements` must be a scalar",
    knows_no_timeout: "BarrierTakeMany(Barrier(; component_types={f32}, shapes={shape[]}), 1; component_types={f32}, timeout_ms=5) ! `timeout_ms` = 5",
    wants_a_barrier: "BarrierTakeMany(FIFOQueue(; component_types={f32}), 1; component_types={f32}) ! which BarrierTakeMany cannot use",
}
