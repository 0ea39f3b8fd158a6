//! `StatelessMultinomial`: classes drawn with the probabilities given by rows of logits, from a seed.

use super::categories::{draw, infer_outputs};
use super::fill::check_seed;
use crate::shared::philox::from_seed;
use millstream_graph::op::spec::{IndexType, RealNumber, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, I64};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("StatelessMultinomial")
        .doc(
            "Draws `num_samples` classes for each row of `logits`, which are unnormalized \
             log-probabilities. The classes are determined by `seed`.",
        )
        .input("logits", "T")
        .input("num_samples", I32)
        .on_host()
        .input("seed", "Tseed")
        .on_host()
        .output("output", "output_dtype")
        .attr("T", RealNumber)
        .attr("Tseed", IndexType.or(I64))
        .attr("output_dtype", IndexType.or(I64))
        .infer(|cx| {
            check_seed(cx, 2)?;
            infer_outputs(cx)
        })
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let philox = from_seed(cx, 2)?;
    let value = draw(cx, |_, _| Ok(philox))?;
    cx.set(0, value);
    Ok(())
}

cases! {
    one_class: "StatelessMultinomial([[0.0]], 3, [1 2]) = i64[1,3] [[0 0 0]]",
    takes_shapes: "StatelessMultinomial(f32[?,3], 5, i32[2]; output_dtype=i32) : i32[?,5]",
    seed_is_two_integers: "StatelessMultinomial([[1.0 2.0]], 3, [1]) ! `seed` must be two integers",
}
