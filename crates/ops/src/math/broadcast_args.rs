//! `BroadcastArgs`: the shape that two shapes broadcast to.

use millstream_graph::op::spec::{IndexType, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::{PartialShape, Result, Shape, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("BroadcastArgs")
        .doc("Returns the shape that tensors of shapes `s0` and `s1` broadcast to.")
        .input("s0", "T")
        .on_host()
        .input("s1", "T")
        .on_host()
        .output("r0", "T")
        .attr("T", IndexType.or(I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(0)?;
    cx.vector(1)?;
    let (a, b) = (cx.as_shape(0)?, cx.as_shape(1)?);
    let both = a.broadcast(&b).ok_or_else(|| no_broadcast(&a, &b))?;
    cx.set_known_shape(0, &both);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (a, b) = (Shape::from_signed(&cx.ints(0)?)?, Shape::from_signed(&cx.ints(1)?)?);
    let both = a.broadcast(&b).ok_or_else(|| no_broadcast(&(&a).into(), &(&b).into()))?;
    let dims = both.to_signed();
    cx.set(
        0,
        match cx.input(0).dtype() {
            I32 => Tensor::from_iter([dims.len()], dims.iter().map(|&d| d as i32))?,
            _ => Tensor::vector(&dims)?,
        },
    );
    Ok(())
}

#[cold]
fn no_broadcast(a: &PartialShape, b: &PartialShape) -> millstream_tensor::Error {
    invalid!("Incompatible shapes: {a} vs. {b}"; "shapes {a} in `s0` and {b} in `s1` do not broadcast")
        .with_help("dimensions must be equal, or one of them 1, counted from the last")
}

cases! {
    broadcasts: "BroadcastArgs([2 1], [3]) = [2 3]",
    of_scalars: "BroadcastArgs(i64[0] [], i64[0] []) = i64[0] []",
    knows_the_rank: "BroadcastArgs(i32[2], i32[3]) : i32[3]",
    refuses_others: "BroadcastArgs([2], [3]) ! do not broadcast",
}
