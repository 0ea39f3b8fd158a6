//! `RandomStandardNormal`: standard normal floats, from the node's stream.

use super::fill::{Law, build_floats, infer_shape};
use millstream_graph::op::spec::{FloatType, IndexType, Int, Spec};
use millstream_graph::op::{BuildCx, Effect, Kernel, OpDef, Run};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("RandomStandardNormal")
        .doc(
            "Draws floats from the standard normal distribution. Each run continues the random stream of \
             the node, which starts from `seed` and `seed2`, or from random seeds if both are 0.",
        )
        .input("shape", "T")
        .on_host()
        .output("output", "dtype")
        .attr("seed", Int.or(0))
        .attr("seed2", Int.or(0))
        .attr("dtype", FloatType)
        .attr("T", IndexType)
        .infer(infer_shape)
        .kernel(Kernel::build(Effect::Stateful, build))
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    build_floats(cx, Law::Normal)
}

cases! {
    draws_as_tensorflow_does: "RandomStandardNormal(i32[1] [3]; dtype=f32, seed=87654321, seed2=-42) ~ f32[3] [0.4369113 -0.06283436 -1.4988996]",
    knows_the_rank_from_a_length: "RandomStandardNormal(i32[2]; seed=1, dtype=f32) : f32[?,?]",
    shape_is_a_vector: "RandomStandardNormal(3; seed=1, dtype=f32) ! `shape` must have rank 1",
    no_negative_dimensions: "RandomStandardNormal([-2]; seed=1, dtype=f32) ! dimension -2",
}
