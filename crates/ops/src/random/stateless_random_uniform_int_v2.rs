//! `StatelessRandomUniformIntV2`: uniform integers in a range, from a key and a counter.

use super::fill::{infer_shape_and_key, ints, shape_of};
use crate::shared::philox::from_key;
use millstream_graph::op::spec::{IndexType, OneOf, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, I64, U32, U64};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("StatelessRandomUniformIntV2")
        .doc(
            "Draws integers uniformly from `minval..maxval`, with a small bias because they are remainders. \
             The values are determined by `key` and `counter`.",
        )
        .input("shape", "Tshape")
        .on_host()
        .input("key", U64)
        .input("counter", U64)
        .input("alg", I32)
        .on_host()
        .input("minval", "dtype")
        .input("maxval", "dtype")
        .output("output", "dtype")
        .attr("dtype", OneOf(&[I32, I64, U32, U64]))
        .attr("Tshape", IndexType.or(I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(4)?;
    cx.scalar(5)?;
    infer_shape_and_key(cx)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let value = ints(cx.input(4), cx.input(5), shape_of(cx, 0)?, from_key(cx)?)?;
    cx.set(0, value);
    Ok(())
}

cases! {
    draws_as_tensorflow_does: "StatelessRandomUniformIntV2(i64[1] [3], u64[1] [9223372036854775813], u64[2] [18446744073709551614 77], i32[] 1, i32[] -5, i32[] 7; ) = i32[3] [1 4 1]",
    takes_the_shape: "StatelessRandomUniformIntV2([2 3], u64[1], u64[2], i32[], i64[], i64[]) : i64[2,3]",
    counter_has_two_words: "StatelessRandomUniformIntV2([2], u64[1] [1], u64[1] [1], 1, 1, 9) ! Philox needs 2",
}
