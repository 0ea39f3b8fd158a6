//! `StatelessRandomUniformFullInt`: integers uniform over all values of their dtype, from a seed.

use super::fill::{all_ints, infer_shape_and_seed, shape_of};
use crate::shared::philox::from_seed;
use millstream_graph::op::spec::{IndexType, OneOf, Spec};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, I64, U32, U64};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("StatelessRandomUniformFullInt")
        .doc("Draws integers uniformly from all values of their dtype. The values are determined by `seed`.")
        .input("shape", "T")
        .on_host()
        .input("seed", "Tseed")
        .on_host()
        .output("output", "dtype")
        .attr("dtype", OneOf(&[I32, I64, U32, U64]).or(U64))
        .attr("T", IndexType.or(I32))
        .attr("Tseed", OneOf(&[I32, I64, U32, U64]).or(I64))
        .infer(infer_shape_and_seed)
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let value = all_ints(cx.attrs().dtype("dtype")?, shape_of(cx, 0)?, from_seed(cx, 1)?)?;
    cx.set(0, value);
    Ok(())
}

cases! {
    draws_as_tensorflow_does: "StatelessRandomUniformFullInt(i32[1] [3], i64[2] [5 -7]; dtype=u32) = u32[3] [4031108468 4011406483 2233311366]",
    takes_the_shape: "StatelessRandomUniformFullInt([2 3], i64[2]) : u64[2,3]",
    seed_is_two_integers: "StatelessRandomUniformFullInt([2], [1 2 3]) ! `seed` must be two integers but has shape [3]",
}
