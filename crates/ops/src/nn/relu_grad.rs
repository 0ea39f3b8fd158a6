//! `ReluGrad`: the gradient of `Relu`.

use super::activation::{gradient, zip};
use crate::number::{Num, Number, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    gradient("ReluGrad", "features", run)
        .doc("Computes the gradient of `Relu`: `gradients` where `features` is positive, and 0 elsewhere.")
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in reals => zip::<T>(cx, |g, x| g.mul(if T::ZERO < x { T::ONE } else { T::ZERO })), else => Err(no_kernel("ReluGrad", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

// The op is linear in the gradients and piecewise constant in the features, whose gradient is zero.
fn grad(cx: &mut GradCx) -> Result<()> {
    if cx.wants(0) {
        let (dz, x) = (cx.grad(0), cx.input(1));
        cx.give(0, cx.call("ReluGrad", [dz, x]));
    }
    if cx.wants(1) {
        let zeros = cx.zeros_like_input(1);
        cx.give(1, zeros);
    }
    Ok(())
}

cases! {
    masks: "ReluGrad([2.0 2.0 2.0 2.0], [-1.0 0.0 3.0 nan]) = [0.0 0.0 2.0 0.0]",
    nan_passes: "ReluGrad([nan], [-1.0]) = [nan]",
    shape: "ReluGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    equal_shapes: "ReluGrad([1.0], [1.0 2.0]) ! they must be equal",
}
