//! `RandomUniform`: uniform floats in `[0, 1)`, from the node's stream.

use super::fill::{Law, build_floats, infer_shape};
use millstream_graph::op::spec::{FloatType, IndexType, Int, Spec};
use millstream_graph::op::{BuildCx, Effect, Kernel, OpDef, Run};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("RandomUniform")
        .doc(
            "Draws floats uniformly from `[0, 1)`. Each run continues the random stream of the node, which \
             starts from `seed` and `seed2`, or from random seeds if both are 0.",
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
    build_floats(cx, Law::Uniform)
}

cases! {
    draws_as_tensorflow_does: "RandomUniform(i32[1] [3]; dtype=f32, seed=87654321, seed2=-42) = f32[3] [0.90717506 0.27273297 0.19683838]",
    knows_the_rank_from_a_length: "RandomUniform(i32[2]; seed=1, dtype=f32) : f32[?,?]",
    shape_is_a_vector: "RandomUniform(3; seed=1, dtype=f32) ! `shape` must have rank 1",
    no_negative_dimensions: "RandomUniform([-2]; seed=1, dtype=f32) ! dimension -2",
}
