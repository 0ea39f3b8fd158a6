//! `StatelessRandomUniform`: uniform floats in `[0, 1)`, from a seed.

use super::fill::{Law, infer_shape_and_seed, run_seeded_floats};
use millstream_graph::op::spec::{FloatType, IndexType, Spec};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::DType::{F32, I32, I64};

pub(crate) fn def() -> OpDef {
    OpDef::new("StatelessRandomUniform")
        .doc("Draws floats uniformly from `[0, 1)`. The values are determined by `seed`.")
        .input("shape", "T")
        .on_host()
        .input("seed", "Tseed")
        .on_host()
        .output("output", "dtype")
        .attr("dtype", FloatType.or(F32))
        .attr("T", IndexType.or(I32))
        .attr("Tseed", IndexType.or(I64))
        .infer(infer_shape_and_seed)
        .kernel(Kernel::pure(|cx| run_seeded_floats(cx, Law::Uniform)))
}

cases! {
    draws_as_tensorflow_does: "StatelessRandomUniform(i32[1] [3], i64[2] [5 -7]; dtype=f32) = f32[3] [0.5455766 0.19691694 0.23146129]",
    takes_the_shape: "StatelessRandomUniform([2 3], i64[2]) : f32[2,3]",
    seed_is_two_integers: "StatelessRandomUniform([2], [1 2 3]) ! `seed` must be two integers but has shape [3]",
}
