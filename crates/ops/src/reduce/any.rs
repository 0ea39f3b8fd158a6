//! `Any`: the logical or of elements along axes.

use super::reduction::reduction;
use crate::shared::fold::{Fold, Reduction};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::DType::Bool;
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    reduction("Any", run)
        .doc(
            "Computes the logical or of the elements along `reduction_indices`. It is false for no \
             elements.",
        )
        .input("input", Bool)
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", Bool)
}

struct Any;

impl Fold for Any {
    type In = bool;
    type Out = bool;
    type Acc = bool;
    const START: bool = false;
    #[inline(always)]
    fn step(acc: bool, x: bool) -> bool {
        acc | x
    }
    #[inline(always)]
    fn merge(a: bool, b: bool) -> bool {
        a | b
    }
    #[inline(always)]
    fn finish(acc: bool, _: usize) -> bool {
        acc
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = Reduction::of(cx)?.fold::<Any>()?;
    cx.set(0, out);
    Ok(())
}

cases! {
    of_rows: "Any([[true false] [false false]], [1]) = [true false]",
    of_nothing: "Any(bool[0] [], 0) = false",
    shape: "Any(bool[2,?], 0; keep_dims=true) : bool[1,?]",
    axis_out_of_range: "Any([true], [1]) ! `reduction_indices` is 1",
}
