//! `StatelessRandomUniformFullIntV2`: integers uniform over all values of their dtype, from a key and a
//! counter.

use super::fill::{all_ints, infer_shape_and_key, shape_of};
use crate::shared::philox::from_key;
use millstream_graph::op::spec::{IndexType, OneOf, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, I64, U32, U64};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("StatelessRandomUniformFullIntV2")
        .doc(
            "Draws integers uniformly from all values of their dtype. The values are determined by `key` \
             and `counter`.",
        )
        .input("shape", "Tshape")
        .on_host()
        .input("key", U64)
        .input("counter", U64)
        .input("alg", I32)
        .on_host()
        .output("output", "dtype")
        .attr("dtype", OneOf(&[I32, I64, U32, U64]).or(U64))
        .attr("Tshape", IndexType.or(I32))
        .infer(infer_shape_and_key)
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let value = all_ints(cx.attrs().dtype("dtype")?, shape_of(cx, 0)?, from_key(cx)?)?;
    cx.set(0, value);
    Ok(())
}

cases! {
    draws_as_tensorflow_does: "StatelessRandomUniformFullIntV2(i64[1] [3], u64[1] [9223372036854775813], u64[2] [18446744073709551614 77], i32[] 1; dtype=u32) = u32[3] [1222774014 2908161321 1805462178]",
    takes_the_shape: "StatelessRandomUniformFullIntV2([2 3], u64[1], u64[2], i32[]) : u64[2,3]",
    key_is_one_word: "StatelessRandomUniformFullIntV2([2], u64[2] [1 2], u64[2] [1 2], 1) ! `key` must have shape [1]",
}
