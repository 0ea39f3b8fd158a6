//! `SparseAccumulatorTakeGradient`: takes the mean of gathered rows.

use super::accumulator_take_gradient::divided;
use super::accumulators::{take, user};
use crate::shared::handles::{By, one_handle};
use millstream_graph::op::spec::Number;
use millstream_graph::op::{Completion, Kernel, KernelCx, OpDef, Outputs};
use millstream_state::{AccumulatorSpec, Gathered};
use millstream_tensor::{DType, Error, PartialShape, Tensor};
use smallvec::smallvec;

pub(crate) fn def() -> OpDef {
    user("SparseAccumulatorTakeGradient", By::Reference)
        .doc(
            "Waits until the accumulator holds `num_required` gradients, returns the rows that they have, each \
             the mean of the gradients that have it (or their sum), and begins the accumulator's next step.",
        )
        .input("num_required", DType::I32)
        .output("indices", DType::I64)
        .output("values", "dtype")
        .output("shape", DType::I64)
        .attr("dtype", Number)
        .infer(|cx| {
            cx.scalar(1)?;
            for i in 0..3 {
                cx.set(i, PartialShape::unknown());
            }
            one_handle(cx)
        })
        .kernel(Kernel::waiting(start))
}

fn start(cx: &mut KernelCx, completion: Completion) {
    take(cx, completion, true, given);
}

fn given(spec: &AccumulatorSpec, sum: Gathered, _: u32) -> Outputs {
    let Gathered::Sparse { indices, values, counts, shape } = sum else {
        return Err(Error::internal("rows are gathered as such"));
    };
    let width: usize = values.shape()[1..].iter().product();
    let of_elements = |n: u32| std::iter::repeat_n(n, width);
    let values =
        if spec.mean { divided(&values, &mut counts.iter().copied().flat_map(of_elements))? } else { values };
    // What no gradient has told is known by its rows, or not at all: TensorFlow says -1.
    let shape = match (shape.is_empty(), spec.shape.dims()) {
        (false, _) => shape,
        (true, Some(dims)) => dims.iter().map(|d| d.map_or(-1, |d| d as i64)).collect(),
        (true, None) => std::iter::once(-1).chain(values.shape()[1..].iter().map(|&d| d as i64)).collect(),
    };
    Ok(smallvec![Tensor::vector(&indices)?, values, Tensor::vector(&shape)?])
}

cases! {
    infers: "SparseAccumulatorTakeGradient(SparseConditionalAccumulator(; dtype=f32), i32[]; dtype=f32) : i64[..], f32[..], i64[..]",
    some: "SparseAccumulatorTakeGradient(SparseConditionalAccumulator(; dtype=f32), 0; dtype=f32) ! Argument num_required must be positive, but was 0",
    of_rows: "SparseAccumulatorTakeGradient(ConditionalAccumulator(; dtype=f32), 1; dtype=f32) ! gathers whole tensors",
}
