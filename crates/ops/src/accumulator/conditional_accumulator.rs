//! `ConditionalAccumulator`, `ResourceConditionalAccumulator`: an accumulator of gradients.

use super::accumulators::{both, opener, opening};
use millstream_graph::op::OpDef;

pub(crate) fn def() -> [OpDef; 2] {
    both(["ConditionalAccumulator", "ResourceConditionalAccumulator"], |name, by| {
        opener(name, by, |cx| opening(cx, false)).doc(
            "Returns a handle to the accumulator `shared_name` (by default, the node's name) in `container`, \
             which is created if it does not exist. It gathers gradients of this `dtype` that fit `shape`, \
             until some are taken: their mean, or their sum if `reduction_type` is SUM. It has a step, 0 at \
             first and one more each time gradients are taken; gradients of older steps are dropped.",
        )
    })
}

cases! {
    starts_empty: "AccumulatorNumAccumulated(ConditionalAccumulator(; dtype=f32)) = 0",
    starts_empty_as_a_resource: "ResourceAccumulatorNumAccumulated(ResourceConditionalAccumulator(; dtype=f32, shape=shape[2])) = 0",
    mean_or_sum: "ConditionalAccumulator(; dtype=f32, reduction_type=\"MAX\") ! MAX",
}
