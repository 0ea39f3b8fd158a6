//! `LeakyReluGrad`: the gradient of `LeakyRelu`.

use super::activation::{alpha, gradient, zip};
use crate::number::{FloatElement, Number, no_kernel};
use millstream_graph::Attr;
use millstream_graph::op::spec::{self, Spec};
use millstream_graph::op::{GradCx, Gradient, KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    gradient("LeakyReluGrad", "features", run)
        .doc(
            "Computes the gradient of `LeakyRelu`: `gradients` where `features` is positive, \
             `alpha * gradients` elsewhere.",
        )
        .attr("alpha", spec::Float.or(0.2f32))
        .attr("T", spec::FloatType.or(millstream_tensor::DType::F32))
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => {
        let alpha = alpha::<T>(cx)?;
        zip::<T>(cx, |g, x| if T::ZERO < x { g } else { T::of_work(alpha * g.work()) })
    }, else => Err(no_kernel("LeakyReluGrad", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

// The op is linear in the gradients and piecewise constant in the features, whose gradient is zero.
fn grad(cx: &mut GradCx) -> Result<()> {
    if cx.wants(0) {
        let (dz, x) = (cx.grad(0), cx.input(1));
        let alpha = cx.attrs().float("alpha")?;
        cx.give(0, cx.op("LeakyReluGrad").input(dz).input(x).attr("alpha", Attr::Float(alpha)).output());
    }
    if cx.wants(1) {
        let zeros = cx.zeros_like_input(1);
        cx.give(1, zeros);
    }
    Ok(())
}

cases! {
    scales: "LeakyReluGrad([2.0 2.0 2.0], [-1.0 0.0 3.0]; alpha=0.5) = [1.0 1.0 2.0]",
    shape: "LeakyReluGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    equal_shapes: "LeakyReluGrad([1.0], [1.0 2.0]) ! they must be equal",
}
