//! `ListDiff`: the difference of two vectors.

use super::gather::take_along;
use crate::shared::axes::{counts, vector};
use crate::shared::keys::{Key, keys};
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, PartialShape, Result};
use std::collections::HashSet;

pub(crate) fn def() -> OpDef {
    OpDef::new("ListDiff")
        .doc(
            "Returns the elements of `x` that are not in `y`, in order and with duplicates, and their \
             indices in `x`.",
        )
        .input("x", "T")
        .input("y", "T")
        .output("out", "T")
        .output("idx", "out_idx")
        .attr("T", AnyType)
        .attr("out_idx", IndexType.or(DType::I32))
        .infer(infer)
        // Keys take 32 bytes, and a set of them up to 66.
        .kernel(Kernel::pure(run).scratch(112))
        .gradient(Gradient::none("which elements are equal changes by steps"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(0)?;
    cx.vector(1)?;
    cx.set(0, PartialShape::unknown_of_rank(1));
    cx.set(1, PartialShape::unknown_of_rank(1));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (x, y) = (cx.input(0), cx.input(1));
    vector("x", x)?;
    vector("y", y)?;
    let ys = keys(y)?;
    #[expect(
        clippy::mutable_key_type,
        reason = "what changes in a string is the count of what it is charged for"
    )]
    // With room for all, a set never moves what is in it, which takes seconds if there are millions.
    let mut gone: HashSet<&Key> = HashSet::with_capacity(ys.len());
    let mut pace = Pace::new();
    for key in &ys {
        pace.spend(4)?;
        if !matches!(key, Key::Unequal(_)) {
            gone.insert(key);
        }
    }
    let mut kept = Vec::new();
    for (i, key) in keys(x)?.iter().enumerate() {
        pace.spend(4)?;
        if !gone.contains(key) {
            kept.push(i);
        }
    }
    let out = take_along(x, 0, &kept)?;
    cx.set(0, out);
    cx.set(1, counts(cx.attrs().dtype("out_idx")?, [kept.len()], kept)?);
    Ok(())
}

cases! {
    takes_away: "ListDiff([1 2 3 2 4], [2 4]) = [1 3], [0 2]",
    keeps_repeats: "ListDiff(['a' 'b' 'a'], ['b']; out_idx=i64) = ['a' 'a'], i64 [0 2]",
    nothing_left: "ListDiff([1], [1]) = i32[0] [], i32[0] []",
    infers: "ListDiff(f32[3], f32[?]) : f32[?], i32[?]",
    takes_vectors: "ListDiff([[1]], [1]) ! `x` must have rank 1",
}
