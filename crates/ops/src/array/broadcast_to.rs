//! `BroadcastTo`: broadcasts a tensor to a given shape.

use crate::shared::axes::vector;
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Shape, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("BroadcastTo")
        .doc("Broadcasts `input` to `shape`: axes of size 1 are repeated, and new outer axes are added.")
        .input("input", "T")
        .input("shape", "Tidx")
        .on_host()
        .output("output", "T")
        .attr("T", AnyType)
        .attr("Tidx", IndexType.or(DType::I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .spreads()
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(1)?;
    let (input, shape) = (cx.input(0), cx.as_shape(1)?);
    let fits = match (input.rank(), shape.rank()) {
        (Some(own), Some(rank)) if own > rank => false,
        _ => input.broadcast(&shape).is_some_and(|both| both.is_compatible(&shape)),
    };
    ensure!(fits, "{}", input.no_broadcast(&shape); "`input` has shape {input}, which does not broadcast to `shape` {shape}");
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    vector("shape", cx.input(1))?;
    let shape = Shape::from_signed(&cx.ints(1)?)?;
    let out = cx.take(0).broadcast_to(shape)?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    cx.give_unstretched(0, dy);
    Ok(())
}

cases! {
    a_row: "BroadcastTo([1 2], [2 2]) = [[1 2] [1 2]]",
    a_column: "BroadcastTo([[1] [2]], i64 [2 2]) = [[1 1] [2 2]]",
    a_scalar: "BroadcastTo(7, [3]) = [7 7 7]",
    to_nothing: "BroadcastTo([[1]], [0 2]) = i32[0,2] []",
    strings: "BroadcastTo('a', [2]) = ['a' 'a']",
    infers: "BroadcastTo(f32[?,3], i32[3]) : f32[?,?,?]",
    does_not_fit: "BroadcastTo([1 2], [3]) ! does not broadcast to `shape` [3]",
    lower_rank: "BroadcastTo([[1 2]], [2]) ! does not broadcast to `shape` [2]",
}
