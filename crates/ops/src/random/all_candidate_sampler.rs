//! `AllCandidateSampler`: all classes instead of a sample.

use super::candidates::{sampled, sampler, true_classes};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::{Result, Tensor};

pub(crate) fn def() -> OpDef {
    sampler("AllCandidateSampler")
        .doc(
            "Returns the classes `0..num_sampled`, each once, and expected counts of 1, to test a loss over \
             sampled classes. `unique` and the seeds have no effect.",
        )
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (truths, n) = (true_classes(cx)?, sampled(cx.attrs())?);
    let mut candidates = Tensor::zeros(I64, [n])?;
    if let Some(cells) = candidates.make_mut::<i64>() {
        cells.iter_mut().enumerate().for_each(|(i, cell)| *cell = i as i64);
    }
    let ones =
        |like: &Tensor| Tensor::from_iter(like.shape().clone(), std::iter::repeat_n(1.0f32, like.elements()));
    let (of_truths, of_candidates) = (ones(&truths)?, ones(&candidates)?);
    cx.set(0, candidates);
    cx.set(1, of_truths);
    cx.set(2, of_candidates);
    Ok(())
}

cases! {
    all: "AllCandidateSampler(i64 [[2]]; num_true=1, num_sampled=3, unique=true) = i64[3] [0 1 2], [[1.0]], [1.0 1.0 1.0]",
    shapes: "AllCandidateSampler(i64[?,2]; num_true=2, num_sampled=3, unique=true) : i64[3], f32[?,2], f32[3]",
    columns: "AllCandidateSampler(i64 [[0 1]]; num_true=1, num_sampled=3, unique=false) ! true_classes must have num_true columns",
}
