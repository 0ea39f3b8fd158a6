//! `EluGrad`: the gradient of `Elu`, from its outputs.

use super::activation::{gradient, zip};
use crate::number::{FloatElement, Number, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    gradient("EluGrad", "outputs", run)
        .doc(
            "Computes the gradient of `Elu` from its outputs: `gradients` where `outputs` is positive, \
             `gradients * (outputs + 1)` elsewhere.",
        )
        .attr("T", spec::FloatType)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => zip::<T>(cx, |g, y| if y < T::ZERO { T::of_work((y.work() + <<T as FloatElement>::Work as Number>::ONE) * g.work()) } else { g }), else => Err(no_kernel("EluGrad", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

// z = dy (y + 1) where y is negative, and dy elsewhere.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, y) = (cx.grad(0), cx.input(1));
    if cx.wants(0) {
        cx.give(0, cx.call("EluGrad", [dz, y]));
    }
    if cx.wants(1) {
        let (dy, zero) = (cx.input(0), cx.scalar(cx.dtype(1), 0.0));
        cx.give(1, cx.call("SelectV2", [cx.call("Less", [y, zero]), dz * dy, zero]));
    }
    Ok(())
}

cases! {
    bends: "EluGrad([2.0 2.0 2.0], [-0.5 0.0 3.0]) = [1.0 2.0 2.0]",
    shape: "EluGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    equal_shapes: "EluGrad([1.0], [1.0 2.0]) ! they must be equal",
}
