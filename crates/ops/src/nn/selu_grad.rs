//! `SeluGrad`: the gradient of `Selu`, from its outputs.

use super::activation::{SELU, constant, gradient, zip};
use crate::number::{FloatElement, Number, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    gradient("SeluGrad", "outputs", run)
        .doc(
            "Computes the gradient of `Selu` from its outputs: `gradients * scale` where `outputs` is \
             positive, `gradients * (outputs + scale * alpha)` elsewhere.",
        )
        .attr("T", spec::FloatType)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => {
        let (scale, negative) = (constant::<<T as FloatElement>::Work>(SELU.0), constant::<<T as FloatElement>::Work>(SELU.1));
        zip::<T>(cx, |g, y| T::of_work(g.work() * if y < T::ZERO { y.work() + negative } else { scale }))
    }, else => Err(no_kernel("SeluGrad", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

// z = dy (y + scale alpha) where y is negative, and scale dy elsewhere.
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
