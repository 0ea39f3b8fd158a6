//! `Multinomial`: classes drawn with the probabilities given by rows of logits, from the node's stream.

use super::categories::{draw, infer_outputs};
use crate::shared::philox::{RESERVED, Stream, WORDS};
use millstream_graph::op::spec::{IndexType, Int, RealNumber, Spec};
use millstream_graph::op::{BuildCx, Effect, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::DType::{I32, I64};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("Multinomial")
        .doc(
            "Draws `num_samples` classes for each row of `logits`, which are unnormalized \
             log-probabilities. Each run continues the random stream of the node, which starts from `seed` \
             and `seed2`, or from random seeds if both are 0.",
        )
        .input("logits", "T")
        .input("num_samples", I32)
        .on_host()
        .output("output", "output_dtype")
        .attr("seed", Int.or(0))
        .attr("seed2", Int.or(0))
        .attr("T", RealNumber)
        .attr("output_dtype", IndexType.or(I64))
        .infer(infer_outputs)
        .kernel(Kernel::build(Effect::Stateful, build))
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let stream = Stream::of(cx)?;
    Ok(Box::new(move |cx: &mut KernelCx| {
        // The number of steps is the one that TensorFlow reserves: samples rounded up to whole steps, twice
        // because each takes two words.
        let value = draw(cx, |rows, samples| {
            let rounded = (samples.div_ceil(WORDS) as u64).wrapping_mul(2 * WORDS as u64);
            Ok(stream.reserve((rows as u64).wrapping_mul(rounded).wrapping_mul(RESERVED)))
        })?;
        cx.set(0, value);
        Ok(())
    }))
}

cases! {
    one_class: "Multinomial([[0.0]], 3; seed=1) = i64[1,3] [[0 0 0]]",
    takes_shapes: "Multinomial(f32[?,3], 5; output_dtype=i32) : i32[?,5]",
    logits_are_rows: "Multinomial([1.0 2.0], 3; seed=1) ! `logits` must have rank 2",
    no_negative_counts: "Multinomial([[1.0 2.0]], -3; seed=1) ! `num_samples` is -3",
    needs_a_class: "Multinomial(f32[2,0] [], 3; seed=1) ! `logits` has no classes",
}
