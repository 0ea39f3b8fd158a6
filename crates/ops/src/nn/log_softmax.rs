//! `LogSoftmax`: the logarithm of the softmax along the last axis.

use super::softmax_rows::by_rows;
use super::softmax_rows::sum_of_rows;
use crate::number::no_kernel;
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("LogSoftmax")
        .doc("Computes `logits - ln(sum(exp(logits)))`, with the sum along the last axis.")
        .input("logits", "T")
        .output("logsoftmax", "T")
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
        by_rows::<T>("logits", logits, |row| row.sum.ln(), |x, _, log| x - log)
    }, else => Err(no_kernel("LogSoftmax", logits.dtype())))?;
    cx.set(0, out);
    Ok(())
}

// d log(sᵢ) = dxᵢ - Σ sⱼ dxⱼ along each row
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    cx.give(0, dy - cx.call("Exp", [y]) * sum_of_rows(cx, dy));
    Ok(())
}

cases! {
    of_each_row: "LogSoftmax([[1.0 2.0] [1000.0 0.0]]) ~ [[-1.3132616 -0.3132616] [0.0 -1000.0]]",
    keeps_infinity: "LogSoftmax([-inf 1.0]) = [-inf 0.0]",
    shape: "LogSoftmax(f32[?,3]) : f32[?,3]",
    of_empty_rows: "LogSoftmax(f32[2,0] [[] []]) = f32[2,0] [[] []]",
    needs_an_axis: "LogSoftmax(f32[]) ! Shape must be at least rank 1 but is rank 0",
}
