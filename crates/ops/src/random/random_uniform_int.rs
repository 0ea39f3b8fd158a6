//! `RandomUniformInt`: uniform integers in a range, from the node's stream.

use super::fill::{infer_shape, ints, shape_of};
use crate::shared::philox::Stream;
use millstream_graph::op::spec::{IndexType, Int, Spec};
use millstream_graph::op::{BuildCx, Effect, InferCx, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("RandomUniformInt")
        .doc(
            "Draws integers uniformly from `minval..maxval`, with a small bias because they are remainders. \
             Each run continues the random stream of the node, which starts from `seed` and `seed2`, or \
             from random seeds if both are 0.",
        )
        .input("shape", "T")
        .on_host()
        .input("minval", "Tout")
        .input("maxval", "Tout")
        .output("output", "Tout")
        .attr("seed", Int.or(0))
        .attr("seed2", Int.or(0))
        .attr("Tout", IndexType)
        .attr("T", IndexType)
        .infer(infer)
        .kernel(Kernel::build(Effect::Stateful, build))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    cx.scalar(2)?;
    infer_shape(cx)
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let stream = Stream::of(cx)?;
    Ok(Box::new(move |cx: &mut KernelCx| {
        let shape = shape_of(cx, 0)?;
        let philox = stream.reserve_outputs(shape.elements());
        let value = ints(cx.input(1), cx.input(2), shape, philox)?;
        cx.set(0, value);
        Ok(())
    }))
}

cases! {
    nothing_needs_no_range: "RandomUniformInt([0], 5, 5; seed=1) = i32[0] []",
    takes_the_shape: "RandomUniformInt([2 3], i64[], i64[]) : i64[2,3]",
    range_is_not_empty: "RandomUniformInt([2], 5, 5; seed=1) ! `minval` is 5 but must be less than `maxval`, 5",
    bounds_are_scalars: "RandomUniformInt([2], [5], 5; seed=1) ! `minval` must be a scalar",
}
