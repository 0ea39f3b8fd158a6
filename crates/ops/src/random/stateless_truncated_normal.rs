//! `StatelessTruncatedNormal`: truncated normal floats, from a seed.

use super::fill::{Law, infer_shape_and_seed, run_seeded_floats};
use millstream_graph::op::spec::{FloatType, IndexType, Spec};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::DType::{F32, I32, I64};

pub(crate) fn def() -> OpDef {
    OpDef::new("StatelessTruncatedNormal")
        .doc(
            "Draws floats from the standard normal distribution, redrawing those two or more standard \
             deviations from zero. The values are determined by `seed`.",
        )
        .input("shape", "T")
        .on_host()
        .input("seed", "Tseed")
        .on_host()
        .output("output", "dtype")
        .attr("dtype", FloatType.or(F32))
        .attr("T", IndexType.or(I32))
        .attr("Tseed", IndexType.or(I64))
        .infer(infer_shape_and_seed)
        .kernel(Kernel::pure(|cx| run_seeded_floats(cx, Law::Truncated)))
}

cases! {
    draws_as_tensorflow_does: "StatelessTruncatedNormal(i32[1] [3], i64[2] [5 -7]; dtype=f32) ~ f32[3] [1.0401648 0.3603907 0.59618306]",
    takes_the_shape: "StatelessTruncatedNormal([2 3], i64[2]) : f32[2,3]",
    seed_is_two_integers: "StatelessTruncatedNormal([2], [1 2 3]) ! `seed` must be two integers but has shape [3]",
}
