//! `StatelessRandomUniformInt`: uniform integers in a range, from a seed.

use super::fill::{infer_shape_and_seed, ints, shape_of};
use crate::shared::philox::from_seed;
use millstream_graph::op::spec::{IndexType, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("StatelessRandomUniformInt")
        .doc(
            "Draws integers uniformly from `minval..maxval`, with a small bias because they are remainders. \
             The values are determined by `seed`.",
        )
        .input("shape", "T")
        .on_host()
        .input("seed", "Tseed")
        .on_host()
        .input("minval", "dtype")
        .input("maxval", "dtype")
        .output("output", "dtype")
        .attr("dtype", IndexType)
        .attr("T", IndexType)
        .attr("Tseed", IndexType.or(I64))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(2)?;
    cx.scalar(3)?;
    infer_shape_and_seed(cx)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let value = ints(cx.input(2), cx.input(3), shape_of(cx, 0)?, from_seed(cx, 1)?)?;
    cx.set(0, value);
    Ok(())
}

cases! {
    draws_as_tensorflow_does: "StatelessRandomUniformInt(i32[1] [3], i64[2] [5 -7], i32[] -5, i32[] 7; ) = i32[3] [3 2 1]",
    takes_the_shape: "StatelessRandomUniformInt([2 3], i64[2], i64[], i64[]) : i64[2,3]",
    range_is_not_empty: "StatelessRandomUniformInt([2], [1 2], 5, 4) ! `minval` is 5 but must be less than `maxval`, 4",
}
