//! `Empty`: a tensor of unspecified elements.

use crate::shared::axes::vector;
use millstream_graph::op::spec::{AnyType, Bool, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Shape, Tensor};

pub(crate) fn def() -> OpDef {
    OpDef::new("Empty")
        .doc(
            "Returns a tensor of the given shape with unspecified elements. This implementation always \
             fills it with zeros, with or without `init`.",
        )
        .input("shape", DType::I32)
        .on_host()
        .output("output", "dtype")
        .attr("dtype", AnyType)
        .attr("init", Bool.or(false))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(0)?;
    let shape = cx.as_shape(0)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    vector("shape", cx.input(0))?;
    let shape = Shape::from_signed(&cx.ints(0)?)?;
    cx.set(0, Tensor::zeros(cx.attrs().dtype("dtype")?, shape)?);
    Ok(())
}

cases! {
    zeros: "Empty([2]; dtype=f32, init=true) = [0.0 0.0]",
    strings: "Empty([1]; dtype=str) = ['']",
    infers: "Empty(i32[2]; dtype=f32) : f32[?,?]",
    negative: "Empty([-1]; dtype=f32) ! -1",
}
