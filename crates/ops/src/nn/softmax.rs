//! `Softmax`: the softmax along the last axis.

use super::softmax_rows::by_rows;
use super::softmax_rows::through_softmax;
use crate::number::no_kernel;
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("Softmax")
        .doc("Computes `exp(logits) / sum(exp(logits))`, with the sum along the last axis.")
        .input("logits", "T")
        .output("softmax", "T")
        .attr("T", FloatType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.at_least_rank(0, 1)?;
    cx.same_as_input()
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let logits = cx.input(0);
    let out = with_element!(logits.dtype(), T in floats => {
        by_rows::<T>("logits", logits, |row| row.sum, |_, exp, sum| exp / sum)
    }, else => Err(no_kernel("Softmax", logits.dtype())))?;
    cx.set(0, out);
    Ok(())
}

// dsᵢ = sᵢ (dxᵢ - Σ sⱼ dxⱼ) along each row
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    cx.give(0, through_softmax(cx, dy, y));
    Ok(())
}

cases! {
    evens_out: "Softmax([1.0 1.0]) = [0.5 0.5]",
    of_each_row: "Softmax([[1.0 2.0] [1000.0 0.0]]) ~ [[0.26894143 0.7310586] [1.0 0.0]]",
    infinities_have_no_ratio: "Softmax([-inf -inf]) ~ [nan nan]",
    shape: "Softmax(f32[?,3]) : f32[?,3]",
    of_empty_rows: "Softmax(f32[2,0] [[] []]) = f32[2,0] [[] []]",
    needs_an_axis: "Softmax(1.0) ! `logits` must have rank 1 or more",
}
