//! `AccumulatorTakeGradient`, `ResourceAccumulatorTakeGradient`: takes the mean of gathered gradients.

use super::accumulators::{both, take, user};
use crate::number::{Number as _, no_kernel};
use crate::shared::handles::one_handle;
use millstream_graph::op::spec::Number;
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef};
use millstream_state::Gathered;
use millstream_tensor::{DType, Error, PartialShape, Result, Tensor, with_element};
use smallvec::smallvec;

pub(crate) fn def() -> [OpDef; 2] {
    both(["AccumulatorTakeGradient", "ResourceAccumulatorTakeGradient"], |name, by| {
        user(name, by)
            .doc(
                "Waits until the accumulator holds `num_required` gradients, returns the mean of all (or their \
                 sum), and begins the accumulator's next step.",
            )
            .input("num_required", DType::I32)
            .output("average", "dtype")
            .attr("dtype", Number)
            .infer(|cx| {
                cx.scalar(1)?;
                cx.set(0, PartialShape::unknown());
                one_handle(cx)
            })
            .kernel(Kernel::waiting(start))
    })
}

fn start(cx: &mut KernelCx, completion: Completion) {
    take(cx, completion, false, |spec, sum, count| match sum {
        Gathered::Dense(sum) if spec.mean => Ok(smallvec![divided(&sum, &mut std::iter::repeat(count))?]),
        Gathered::Dense(sum) => Ok(smallvec![sum]),
        Gathered::Sparse { .. } => Err(Error::internal("whole tensors are gathered as such")),
    });
}

/// Returns the tensor with each element divided by a count. Integers truncate.
pub(super) fn divided(sum: &Tensor, counts: &mut dyn Iterator<Item = u32>) -> Result<Tensor> {
    with_element!(sum.dtype(), T in numbers => {
        let quotients = sum.as_slice::<T>()?.iter().zip(counts).map(|(x, n)| x.over(T::count(n as usize)));
        Tensor::from_iter(sum.shape().clone(), quotients.collect::<Vec<T>>())
    }, else => Err(no_kernel("AccumulatorTakeGradient", sum.dtype())))
}

cases! {
    infers: "ResourceAccumulatorTakeGradient(resource[], i32[]; dtype=f32) : f32[..]",
    some: "AccumulatorTakeGradient(ConditionalAccumulator(; dtype=f32), 0; dtype=f32) ! Argument num_required must be positive, but was 0",
    of_its_dtype: "AccumulatorTakeGradient(ConditionalAccumulator(; dtype=f32), 1; dtype=f64) ! gathers f32, not f64",
}
