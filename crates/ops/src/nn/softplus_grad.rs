//! `SoftplusGrad`: the gradient of `Softplus`.

use super::activation::{gradient, zip};
use crate::number::{FloatElement, Number, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    gradient("SoftplusGrad", "features", run)
        .doc("Computes the gradient of `Softplus`: `gradients / (exp(-features) + 1)`.")
        .attr("T", spec::FloatType)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => zip::<T>(cx, |g, x| T::of_work(g.work() / ((-x.work()).exp() + <<T as FloatElement>::Work as Number>::ONE))), else => Err(no_kernel("SoftplusGrad", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

// z = dy σ(x), and σ'(x) = 1 / (e⁻ˣ + 2 + eˣ).
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, x) = (cx.grad(0), cx.input(1));
    if cx.wants(0) {
        cx.give(0, cx.call("SoftplusGrad", [dz, x]));
    }
    if cx.wants(1) {
        let dy = cx.input(0);
        let below = cx.call("Exp", [-x]) + 2.0 + cx.call("Exp", [x]);
        cx.give(1, dz * dy / below);
    }
    Ok(())
}

cases! {
    bends: "SoftplusGrad([2.0 2.0 2.0 2.0], [-inf -3.0 0.0 7.0]) ~ [0.0 0.09485175 1.0 1.998178]",
    shape: "SoftplusGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    equal_shapes: "SoftplusGrad([1.0], [1.0 2.0]) ! they must be equal",
}
