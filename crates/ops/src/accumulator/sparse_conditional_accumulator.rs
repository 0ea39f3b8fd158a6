//! `SparseConditionalAccumulator`: an accumulator of gradients that are rows of tensors.

use super::accumulators::{opener, opening};
use crate::shared::handles::By;
use millstream_graph::op::OpDef;

pub(crate) fn def() -> OpDef {
    opener("SparseConditionalAccumulator", By::Reference, |cx| opening(cx, true)).doc(
        "Returns a handle to an accumulator as `ConditionalAccumulator` does. Its gradients are rows of tensors \
         of this `shape`. The mean of a row is that of the gradients that have it.",
    )
}

cases! {
    starts_empty: "AccumulatorNumAccumulated(SparseConditionalAccumulator(; dtype=f32)) = 0",
    mean_or_sum: "SparseConditionalAccumulator(; dtype=f32, reduction_type=\"MAX\") ! MAX",
}
