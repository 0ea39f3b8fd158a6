//! `SoftsignGrad`: the gradient of `Softsign`.

use super::activation::{gradient, zip};
use crate::number::{FloatElement, Number, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    gradient("SoftsignGrad", "features", run)
        .doc("Computes the gradient of `Softsign`: `gradients / (1 + abs(features))^2`.")
        .attr("T", spec::FloatType)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => zip::<T>(cx, |g, x| {
        let d = x.work().abs() + <<T as FloatElement>::Work as Number>::ONE;
        T::of_work(g.work() / (d * d))
    }), else => Err(no_kernel("SoftsignGrad", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

// z = dy / (1 + |x|)²
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, x) = (cx.grad(0), cx.input(1));
    if cx.wants(0) {
        cx.give(0, cx.call("SoftsignGrad", [dz, x]));
    }
    if cx.wants(1) {
        let z = cx.output(0);
        let share = cx.call("Sign", [x]) / (cx.call("Abs", [x]) + 1.0);
        cx.give(1, dz * z * share * -2.0);
    }
    Ok(())
}

cases! {
    bends: "SoftsignGrad([2.0 2.0 2.0], [-3.0 0.0 1.0]) = [0.125 2.0 0.5]",
    shape: "SoftsignGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    equal_shapes: "SoftsignGrad([1.0], [1.0 2.0]) ! they must be equal",
}
