//! `All`: the logical and of elements along axes.

use super::reduction::reduction;
use crate::shared::fold::{Fold, Reduction};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::DType::Bool;
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    reduction("All", run)
        .doc(
            "Computes the logical and of the elements along `reduction_indices`. It is true for no \
             elements.",
        )
        .input("input", Bool)
        .input("reduction_indices", "Tidx")
        .on_host()
        .output("output", Bool)
}

struct All;

impl Fold for All {
    type In = bool;
    type Out = bool;
    type Acc = bool;
    const START: bool = true;
    #[inline(always)]
    fn step(acc: bool, x: bool) -> bool {
        acc & x
    }
    #[inline(always)]
    fn merge(a: bool, b: bool) -> bool {
        a & b
    }
    #[inline(always)]
    fn finish(acc: bool, _: usize) -> bool {
        acc
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = Reduction::of(cx)?.fold::<All>()?;
    cx.set(0, out);
    Ok(())
}

cases! {
    of_rows: "All([[true true] [true false]], [1]) = [true false]",
    of_nothing: "All(bool[0] [], 0) = true",
    shape: "All(bool[2,?], 0; keep_dims=true) : bool[1,?]",
    axis_out_of_range: "All([true], [1]) ! `reduction_indices` is 1",
}
