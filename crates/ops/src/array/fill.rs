//! `Fill`: a tensor filled with one value.

use crate::shared::axes::{scalar, vector};
use crate::shared::gradient::sum_of_all;
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Shape, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("Fill")
        .doc("Returns a tensor of shape `dims` filled with `value`.")
        .input("dims", "index_type")
        .on_host()
        .input("value", "T")
        .output("output", "T")
        .attr("T", AnyType)
        .attr("index_type", IndexType.or(DType::I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(0)?;
    cx.scalar(1)?;
    let negative = cx.ints(0).is_some_and(|dims| dims.contains(&-1));
    ensure!(!negative, "Fill dimensions must be >= 0"; "an entry of `dims` is -1: a size must not be negative");
    let shape = cx.as_shape(0)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    vector("dims", cx.input(0)).map_err(|e| {
        e.led_by(format!("dims must be a vector of int32, got shape {}", cx.input(0).shape()))
    })?;
    scalar("value", cx.input(1))
        .map_err(|e| e.led_by(format!("value must be a scalar, got shape {}", cx.input(1).shape())))?;
    let sizes = cx.ints(0)?;
    let shape = Shape::from_signed(&sizes).map_err(|e| match sizes.iter().find(|s| **s < 0) {
        Some(size) => e.led_by(format!("Dimension {size} must be >= 0")),
        None => e,
    })?;
    let value = cx.take(1);
    let out = if shape.rank() == 0 { value } else { Tensor::fill(shape, &value)? };
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    cx.give(1, sum_of_all(cx, dy));
    Ok(())
}

cases! {
    a_matrix: "Fill([2 3], 7) = [[7 7 7] [7 7 7]]",
    a_scalar: "Fill(i32[0] [], 7.5) = 7.5",
    nothing: "Fill(i64 [0 2], true) = bool[0,2] []",
    strings: "Fill([2], 'a') = ['a' 'a']",
    infers: "Fill(i32[2], f32[]) : f32[?,?]",
    unknown: "Fill(i32[?], f32[]) : f32[..]",
    negative: "Fill([-2], 7) ! -2",
    value_is_scalar: "Fill([2], [7]) ! `value` must be a scalar",
    overflow: "Fill(i64 [4611686018427387904 4], 7) ! 63 bits",
}
