//! `SeluGrad`: the gradient of `Selu`, from its outputs.

use super::activation::{SELU, constant, gradient, zip};
use crate::number::{Float, Number, with_float};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;


pub(crate) fn def() -> OpDef {
    gradient("SeluGrad", "outputs", run)
        .doc("`gradients * scale` where `outputs` is positive, `gradients * (outputs + scale * alpha)` elsewhere.")
        .attr("T", spec::FloatType)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_float!("SeluGrad", cx.input(0).dtype(), T => {
        let (scale, negative) = (constant::<<T as Float>::Work>(SELU.0), constant::<<T as Float>::Work>(SELU.1));
        zip::<T>(cx, |g, y| T::of_work(g.work() * if y < T::ZERO { y.work() + negative } else { scale }))
    })?;
    cx.set(0, out);
    Ok(())
}

// z = dy (y + constant) where y is negative, and constant times dy elsewhere.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, y) = (cx.grad(0), cx.input(1));
    if cx.wants(0) {
        cx.give(0, cx.call("SeluGrad", [dz, y]));
    }
    if cx.wants(1) {
        let (dy, zero) = (cx.input(0), cx.scalar(cx.dtype(1), 0.0));
        cx.give(1, cx.call("SelectV2", [cx.call("Less", [y, zero]), dz * dy, zero]));
    }
    Ok(())
}

cases! {
    bends: "SeluGrad([2.0 2.0 2.0], [-3.0 0.0 3.0]) ~ [-2.4838014 2.101402 2.101402]",
    shape: "SeluGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    equal_shapes: "SeluGrad([1.0], [1.0 2.0]) ! they must be equal",
}
