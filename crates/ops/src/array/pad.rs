//! `Pad` and `PadV2`: pads a tensor with zeros, or with a given value.

use super::paddings::{Paddings, infer};
use crate::shared::axes::{Sizes, scalar};
use crate::shared::gradient::{as_i32, sum_of_all};
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Shape, Tensor};
use smallvec::SmallVec;

pub(crate) fn def() -> [OpDef; 2] {
    let of = |name| OpDef::new(name).input("input", "T").input("paddings", "Tpaddings").on_host();
    [
        of("Pad").doc(
            "Pads `input` along each axis `i` with `paddings[i][0]` zeros before it and `paddings[i][1]` \
             after it.",
        ),
        of("PadV2").input("constant_values", "T").doc(
            "Pads `input` along each axis `i` with `constant_values`, `paddings[i][0]` times before it and \
             `paddings[i][1]` times after it.",
        ),
    ]
    .map(|def| {
        def.output("output", "T")
            .attr("T", AnyType)
            .attr("Tpaddings", IndexType.or(DType::I32))
            .infer(infer)
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let paddings = Paddings::around(cx.input(1), cx.input(0).shape())?;
    let value = match cx.n_inputs() {
        3 => {
            scalar("constant_values", cx.input(2))?;
            cx.take(2)
        }
        _ => Tensor::zeros(cx.input(0).dtype(), Shape::scalar())?,
    };
    let input = cx.take(0);
    let out = if paddings.is_none() { input } else { pad(&input, &paddings, &value)? };
    cx.set(0, out);
    Ok(())
}

/// Returns `input` inside a tensor that is `value` elsewhere.
pub(super) fn pad(input: &Tensor, paddings: &Paddings, value: &Tensor) -> Result<Tensor> {
    let shape = paddings.padded(input.shape())?;
    let steps = shape.strides();
    let before: Sizes = paddings.0.iter().map(|p| p.0).collect();
    let mut out = Tensor::fill(shape, value)?;
    // With an empty input, the margins may be so wide that its offset overflows.
    if input.elements() > 0 {
        let offset: usize = before.iter().zip(&steps).map(|(b, s)| b * s).sum();
        let steps: SmallVec<[isize; 4]> = steps.iter().map(|&s| s as isize).collect();
        out.assign_strided(offset as isize, &steps, input.shape().clone(), input)?;
    }
    Ok(out)
}

// The input gets the gradient inside the margins; the padding value gets the sum of the rest.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let begin = match cx.known_ints(1) {
        Some(paddings) => cx.ints(&paddings.iter().step_by(2).map(|&p| p as i32).collect::<Vec<i32>>()),
        None => {
            let paddings = cx.input(1);
            let paddings = as_i32(cx, paddings);
            let column = cx.op("StridedSlice").input(paddings).input([0, 0]).input([0, 1]).input([1, 1]);
            column.attr("begin_mask", 1).attr("end_mask", 1).attr("shrink_axis_mask", 2).output()
        }
    };
    let size = cx.shape_of_input(0);
    let dx = cx.call("Slice", [dy, begin, size]);
    cx.give(0, dx);
    if cx.n_inputs() == 3 && cx.wants(2) {
        let around = sum_of_all(cx, dy) - sum_of_all(cx, dx);
        let around = cx.reshaped_to_input(2, around);
        cx.give(2, around);
    }
    Ok(())
}

cases! {
    a_vector: "Pad([1 2], [[1 2]]) = [0 1 2 0 0]",
    a_matrix: "Pad([[1.5]], i64 [[1 0] [0 1]]) = [[0 0] [1.5 0.0]]",
    nothing: "Pad([1 2], [[0 0]]) = [1 2]",
    a_scalar: "Pad(7, i32[0,2] []) = 7",
    of_nothing: "Pad(f32[0] [], [[1 1]]) = [0.0 0.0]",
    strings: "Pad(['a'], [[0 1]]) = ['a' '']",
    with_a_value: "PadV2([1 2], [[1 2]], 9) = [9 1 2 9 9]",
    infers: "Pad(f32[?,3], [[1 1] [0 2]]) : f32[?,5]",
    unknown_paddings: "PadV2(f32[2,3], i32[2,2], f32[]) : f32[?,?]",
    rank_from_paddings: "Pad(f32[..], i32[2,2]) : f32[?,?]",
    negative: "Pad([1 2], [[-1 0]]) ! `paddings` [-1, 0] of axis 0",
    wrong_rank: "Pad([1 2], [[1 1] [1 1]]) ! `paddings` has shape [2,2] but `input` has rank 1",
    overflow: "Pad([1 2], i64 [[9223372036854775807 9223372036854775807]]) ! 63 bits",
}
