//! `AccumulatorNumAccumulated`, `ResourceAccumulatorNumAccumulated`: the number of gathered gradients.

use super::accumulators::{both, user};
use crate::shared::handles::{one_handle, share};
use millstream_graph::op::{Kernel, OpDef};
use millstream_state::Accumulator;
use millstream_tensor::{DType, PartialShape, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    both(["AccumulatorNumAccumulated", "ResourceAccumulatorNumAccumulated"], |name, by| {
        user(name, by)
            .doc("Returns the number of gradients that the accumulator holds.")
            .output("num_accumulated", DType::I32)
            .infer(|cx| {
                cx.set(0, PartialShape::unknown_of_rank(0));
                one_handle(cx)
            })
            .kernel(Kernel::stateful(|cx| {
                let n = share::<Accumulator>(cx, 0)?.count();
                cx.set(0, Tensor::scalar(i32::try_from(n).unwrap_or(i32::MAX)));
                Ok(())
            }))
    })
}

cases! {
    infers: "ResourceAccumulatorNumAccumulated(resource[]) : i32[]",
    wants_an_accumulator: "ResourceAccumulatorNumAccumulated(@i32 1) ! refers to a variable",
    none_yet: "AccumulatorNumAccumulated(ConditionalAccumulator(; dtype=f64)) = 0",
}
