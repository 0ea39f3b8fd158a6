//! `AccumulatorApplyGradient`, `ResourceAccumulatorApplyGradient`: adds a gradient to an accumulator.

use super::accumulators::{accumulator, both, user};
use crate::number::{Num as _, no_kernel};
use crate::shared::handles::one_handle;
use millstream_graph::op::spec::Number;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_state::Gathered;
use millstream_tensor::{DType, Result, Tensor, ensure, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    both(["AccumulatorApplyGradient", "ResourceAccumulatorApplyGradient"], |name, by| {
        user(name, by)
            .doc("Adds a gradient to the accumulator, unless `local_step` is less than the accumulator's step.")
            .input("local_step", DType::I64)
            .input("gradient", "dtype")
            .attr("dtype", Number)
            .infer(|cx| {
                cx.scalar(1)?;
                one_handle(cx)
            })
            .kernel(Kernel::stateful(run))
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (accumulator, step) = (accumulator(cx, false)?, cx.int(1)?);
    let (gradient, spec) = (cx.take(2), accumulator.spec());
    ensure!(
        gradient.dtype() == spec.dtype,
        "{accumulator:?} gathers {}, not {}",
        spec.dtype,
        gradient.dtype()
    );
    // A gradient of a step that is over is dropped unseen, as in TensorFlow.
    accumulator.apply(step, |sum| {
        ensure!(
            spec.shape.admits(gradient.shape()),
            "Shape mismatch: expected {}, got {}",
            spec.shape,
            gradient.shape()
        );
        *sum = Some(Gathered::Dense(match sum {
            Some(Gathered::Dense(old)) => {
                ensure!(
                    old.shape() == gradient.shape(),
                    "Shape mismatch: expected {}, got {}",
                    old.shape(),
                    gradient.shape()
                );
                added(old, &gradient)?
            }
            _ => gradient,
        }));
        Ok(())
    })
}

/// Returns the sum of two tensors of one shape.
pub(super) fn added(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    with_element!(a.dtype(), T in numbers => {
        let (x, y) = (a.as_slice::<T>()?, b.as_slice::<T>()?);
        Tensor::from_iter(a.shape().clone(), x.iter().zip(y).map(|(x, y)| x.add(*y)))
    }, else => Err(no_kernel("AccumulatorApplyGradient", a.dtype())))
}

cases! {
    adds: "AccumulatorApplyGradient(ConditionalAccumulator(; dtype=f32), i64 0, [1.0 2.0]) =",
    infers: "ResourceAccumulatorApplyGradient(resource[], i64[], f32[2]) :",
    fits: "AccumulatorApplyGradient(ConditionalAccumulator(; dtype=f32, shape=shape[2]), i64 0, [1.0 2.0 3.0]) ! Shape mismatch: expected [2], got [3]",
    not_of_a_step_that_is_over: "AccumulatorApplyGradient(ConditionalAccumulator(; dtype=f32, shape=shape[2]), i64 -1, [1.0 2.0 3.0]) =",
    of_its_dtype: "AccumulatorApplyGradient(ConditionalAccumulator(; dtype=f32), i64 0, [1 2]) ! gathers f32, not i32",
    of_whole_tensors: "AccumulatorApplyGradient(SparseConditionalAccumulator(; dtype=f32), i64 0, [1.0]) ! gathers rows of tensors",
}
