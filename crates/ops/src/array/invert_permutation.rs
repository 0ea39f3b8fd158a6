//! `InvertPermutation`: the inverse of a permutation.

use crate::shared::axes::{counts, vector};
use millstream_graph::op::spec::{IndexType, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("InvertPermutation")
        .doc("Computes the inverse of a permutation: `y[x[i]] = i`.")
        .input("x", "T")
        .output("y", "T")
        .attr("T", IndexType.or(DType::I32))
        .infer(infer)
        .kernel(Kernel::pure(run).scratch(24))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = cx.with_rank(0, 1)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    vector("x", cx.input(0))?;
    let x = cx.ints(0)?;
    let n = x.len();
    let mut places: Vec<Option<usize>> = vec![None; n];
    for (i, &v) in x.iter().enumerate() {
        let place = usize::try_from(v).ok().and_then(|v| places.get_mut(v));
        ensure!(place.is_some(), "{v} is not between 0 and {n}"; "`x` {i} is {v}, which is not in 0..{n}");
        if let Some(place) = place {
            ensure!(place.is_none(), "{v} is duplicated in the input."; "{v} is in `x` twice");
            *place = Some(i);
        }
    }
    let y = counts(cx.input(0).dtype(), [n], places.into_iter().flatten())?;
    cx.set(0, y);
    Ok(())
}

cases! {
    inverts: "InvertPermutation([2 0 1]) = [1 2 0]",
    as_i64: "InvertPermutation(i64 [1 0]) = i64 [1 0]",
    nothing: "InvertPermutation(i32[0] []) = i32[0] []",
    infers: "InvertPermutation(i32[?]) : i32[?]",
    twice: "InvertPermutation([0 0]) ! 0 is in `x` twice",
    out_of_range: "InvertPermutation([0 2]) ! `x` 1 is 2, which is not in 0..2",
}
