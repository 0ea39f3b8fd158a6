//! `Pad` and `PadV2`: a tensor with a margin of zeros, or of a value.

use super::back::{as_i32, sum_of_all};
use super::axes::{Sizes, scalar};
use super::paddings::{Paddings, infer};
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Shape, Tensor};
use smallvec::SmallVec;

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("Pad").doc("`input` with `paddings[i][0]` zeros before and `paddings[i][1]` after it along axis `i`."),
        OpDef::new("PadV2").doc("`input` with `paddings[i][0]` times a value before and `paddings[i][1]` times after it along axis `i`."),
    ]
    .map(|def| {
        let def = def.input("input", "T").input("paddings", "Tpaddings").on_host();
        let def = if def.name == "PadV2" { def.input("constant_values", "T") } else { def };
        def.output("output", "T")
            .attr("T", AnyType)
            .attr("Tpaddings", IndexType.or(DType::I32))
            .infer(infer)
            .kernel(Kernel::pure(run)).gradient(Gradient::of(grad))
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

/// `input` in the middle of a tensor that is `value` elsewhere.
pub(super) fn pad(input: &Tensor, paddings: &Paddings, value: &Tensor) -> Result<Tensor> {
    let shape = paddings.padded(input.shape())?;
    let steps = shape.strides();
    let before: Sizes = paddings.0.iter().map(|p| p.0).collect();
    let mut out = Tensor::fill(shape, value)?;
    // An empty input may have a margin so wide that the place where it would be has no number.
    if input.elements() > 0 {
        let offset: usize = before.iter().zip(&steps).map(|(b, s)| b * s).sum();
        let steps: SmallVec<[isize; 4]> = steps.iter().map(|&s| s as isize).collect();
        out.assign_strided(offset as isize, &steps, input.shape().clone(), input)?;
    }
    Ok(out)
}

// What was inside; a value around it gets what is left.
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
