//! `EnsureShape`: checks a shape while a graph runs.

use millstream_graph::op::spec::{AnyShape, AnyType};
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Result, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("EnsureShape")
        .doc(
            "Returns `input` unchanged, or fails if its shape does not match the attribute `shape`. Unknown \
             dimensions of `shape` match any size.",
        )
        .input("input", "T")
        .output("output", "T")
        .attr("shape", AnyShape)
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::pass())
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let declared = cx.attrs().shape("shape")?;
    let merged = cx.input(0).merge(declared);
    cx.set(
        0,
        merged.ok_or_else(|| {
            invalid!("`input` has shape {} but must have {declared}", cx.input(0)).led_by(
                match declared.rank() {
                    Some(rank) if cx.input(0).rank() != Some(rank) => cx.input(0).not_of_rank(rank),
                    _ => declared.difference(cx.input(0)),
                },
            )
        })?,
    );
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let declared = cx.attrs().shape("shape")?;
    let shape = cx.input(0).shape();
    ensure!(
        declared.contains(&shape.into()),
        "Shape of tensor input {shape} is not compatible with expected shape {declared}.";
        "`input` has shape {shape} but must have {declared}"
    );
    let input = cx.take(0);
    cx.set(0, input);
    Ok(())
}

cases! {
    fits: "EnsureShape([[1 2]]; shape=shape[?,2]) = [[1 2]]",
    any_shape: "EnsureShape('a'; shape=shape[..]) = 'a'",
    infers: "EnsureShape(f32[?,3]; shape=shape[2,?]) : f32[2,3]",
    does_not_fit: "EnsureShape([1 2]; shape=shape[3]) ! `input` has shape [2] but must have [3]",
}
