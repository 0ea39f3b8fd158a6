//! `BroadcastTo`: broadcasts a tensor to a given shape.

use crate::shared::axes::vector;
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Shape, ensure, invalid};

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
        (Some(own), Some(rank)) if own > rank => {
            return Err(invalid!(
                "Shape must be at most rank {rank} but is rank {own}";
                "`input` has shape {input}, which does not broadcast to `shape` {shape}"
            ));
        }
        _ => input.broadcast(&shape).is_some_and(|both| both.is_compatible(&shape)),
    };
    ensure!(fits, "{}", input.no_broadcast(&shape); "`input` has shape {input}, which does not broadcast to `shape` {shape}");
    // A dimension of the input that is not 1 stays as it is.
    let front = shape.rank().unwrap_or(0).saturating_sub(input.rank().unwrap_or(0));
    let own = |i: usize| input.dims()?.get(i.checked_sub(front)?).copied().flatten().filter(|d| *d != 1);
    let shape = match shape.dims() {
        Some(dims) => PartialShape::new(dims.iter().enumerate().map(|(i, d)| d.or_else(|| own(i)))),
        None => shape,
    };
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
    infers: "BroadcastTo(f32[?,3], i32[3]) : f32[?,?,3]",
    keeps_ones_open: "BroadcastTo(f32[2,1], i32[2]) : f32[2,?]",
    higher_rank: "BroadcastTo([[1 2]], [2]) ! Shape must be at most rank 1 but is rank 2",
    does_not_fit: "BroadcastTo([1 2], [3]) ! does not broadcast to `shape` [3]",
    lower_rank: "BroadcastTo([[1 2]], [2]) ! does not broadcast to `shape` [2]",
}
