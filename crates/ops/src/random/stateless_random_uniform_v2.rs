//! `StatelessRandomUniformV2`: uniform floats in `[0, 1)`, from a key and a counter.

use super::fill::{Law, infer_shape_and_key, run_keyed_floats};
use millstream_graph::op::spec::{FloatType, IndexType, Spec};
use millstream_graph::op::{Kernel, OpDef};
use millstream_tensor::DType::{F32, I32, U64};

pub(crate) fn def() -> OpDef {
    OpDef::new("StatelessRandomUniformV2")
        .doc("Draws floats uniformly from `[0, 1)`. The values are determined by `key` and `counter`.")
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
        .kernel(Kernel::pure(|cx| run_keyed_floats(cx, Law::Uniform)))
}

cases! {
    draws_as_tensorflow_does: "StatelessRandomUniformV2(i64[1] [3], u64[1] [9223372036854775813], u64[2] [18446744073709551614 77], i32[] 1; dtype=f32) = f32[3] [0.7660215 0.679845 0.22786355]",
    takes_the_shape: "StatelessRandomUniformV2([2 3], u64[1], u64[2], i32[]) : f32[2,3]",
    no_other_generators: "StatelessRandomUniformV2([2], u64[1] [1], u64[2] [1 2], 2) ! use 1 (Philox)",
}
