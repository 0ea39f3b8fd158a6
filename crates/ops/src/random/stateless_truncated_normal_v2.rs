//! `StatelessTruncatedNormalV2`: truncated normal floats, from a key and a counter.

use super::fill::{Law, infer_shape_and_key, run_keyed_floats};
use millstream_graph::op::spec::{FloatType, IndexType, Spec};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::DType::{F32, I32, U64};

pub(crate) fn def() -> OpDef {
    OpDef::new("StatelessTruncatedNormalV2")
        .doc(
            "Draws floats from the standard normal distribution, redrawing those two or more standard \
             deviations from zero. The values are determined by `key` and `counter`.",
        )
        .input("shape", "Tshape")
        .on_host()
        .input("key", U64)
        .input("counter", U64)
        .input("alg", I32)
        .on_host()
        .output("output", "dtype")
        .attr("dtype", FloatType.or(F32))
        .attr("Tshape", IndexType.or(I32))
        .infer(infer_shape_and_key)
        .kernel(Kernel::pure(|cx| run_keyed_floats(cx, Law::Truncated)))
}

cases! {
    draws_as_tensorflow_does: "StatelessTruncatedNormalV2(i64[1] [3], u64[1] [9223372036854775813], u64[2] [18446744073709551614 77], i32[] 1; dtype=f32) ~ f32[3] [-0.66033846 -0.31151754 -0.25244322]",
    takes_the_shape: "StatelessTruncatedNormalV2([2 3], u64[1], u64[2], i32[]) : f32[2,3]",
    no_other_generators: "StatelessTruncatedNormalV2([2], u64[1] [1], u64[2] [1 2], 2) ! use 1 (Philox)",
}
