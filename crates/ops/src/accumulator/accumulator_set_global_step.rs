//! `AccumulatorSetGlobalStep`, `ResourceAccumulatorSetGlobalStep`: the step of an accumulator.

use super::accumulators::{both, user};
use crate::shared::handles::{one_handle, share};
use millstream_graph::op::{Kernel, OpDef};
use millstream_state::Accumulator;
use millstream_tensor::DType;

pub(crate) fn def() -> [OpDef; 2] {
    both(["AccumulatorSetGlobalStep", "ResourceAccumulatorSetGlobalStep"], |name, by| {
        user(name, by)
            .doc("Sets the accumulator's step. Gradients of older steps are dropped from then on.")
            .input("new_global_step", DType::I64)
            .infer(|cx| {
                cx.scalar(1)?;
                one_handle(cx)
            })
            .kernel(Kernel::stateful(|cx| {
                let step = cx.int(1)?;
                share::<Accumulator>(cx, 0)?.set_step(step);
                Ok(())
            }))
    })
}

cases! {
    infers: "ResourceAccumulatorSetGlobalStep(resource[], i64[]) :",
    wants_an_accumulator: "ResourceAccumulatorSetGlobalStep(@i32 1, i64 2) ! refers to a variable",
    sets: "AccumulatorSetGlobalStep(ConditionalAccumulator(; dtype=f64), i64 2) =",
}
