//! `NonMaxSuppressionWithOverlaps`: selects boxes by their scores, with their overlaps given.

use super::boxes::infer_count;
use super::suppression::{Rule, most, scalar, scores, select};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, I32};
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid, unequal};

pub(crate) fn def() -> OpDef {
    OpDef::new("NonMaxSuppressionWithOverlaps")
        .doc(
            "Returns the indices of boxes in the order of their scores. A box is left out if its entry in `overlaps`, \
             `[n, n]`, with a selected one is `overlap_threshold` or more, or its score is not above `score_threshold`.",
        )
        .input("overlaps", F32)
        .input("scores", F32)
        .input("max_output_size", I32)
        .on_host()
        .input("overlap_threshold", F32)
        .input("score_threshold", F32)
        .output("selected_indices", I32)
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(20.0)))
        .gradient(Gradient::none("which boxes are selected does not change by degrees"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let overlaps = cx.with_rank(0, 2)?;
    if let (Some(a), Some(b)) = (overlaps.dim(0), overlaps.dim(1)) {
        ensure!(a == b, "{}", unequal(a, b); "`overlaps` has shape {overlaps}");
    }
    cx.vector(1)?;
    infer_count(cx, 0, 1)?;
    for i in 2..5 {
        cx.scalar(i)?;
    }
    cx.set(0, PartialShape::from([None]));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let overlaps = cx.input(0).clone();
    let n = match overlaps.shape().dims() {
        &[n, m] if n == m => n,
        _ => return Err(invalid!("overlaps must be square"; "`overlaps` has shape {}", overlaps.shape())),
    };
    let rule = Rule { most: most(cx)?, similar: scalar(cx, 3)?, least: scalar(cx, 4)?, sigma: 0.0 };
    let (scores, cells) = (scores(cx, n)?, overlaps.as_slice::<f32>()?);
    let (selected, _) = select(cx.env, scores.as_slice()?, &rule, |i, j| cells[i * n + j])?;
    cx.set(0, Tensor::vector(&selected[..])?);
    Ok(())
}

cases! {
    similar_ones_go: "NonMaxSuppressionWithOverlaps([[1.0 0.6] [0.6 1.0]], [0.5 0.7], 3, 0.5, 0.0) = [1]",
    infers: "NonMaxSuppressionWithOverlaps(f32[?,?], f32[?], i32[], f32[], f32[]) : i32[?]",
    square: "NonMaxSuppressionWithOverlaps([[1.0 0.6]], [0.5], 3, 0.5, 0.0) ! Dimensions must be equal, but are 1 and 2",
}
