//! `Softplus`: a smooth approximation of Relu.

use super::activation::{activation, map};
use crate::number::{FloatElement, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    activation("Softplus", run)
        .doc("Computes `ln(exp(features) + 1)`.")
        .attr("T", spec::FloatType)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => map::<T>(cx, |x| {
        let x = x.work();
        // This form is accurate at both ends: exp(x) neither overflows nor vanishes in the sum.
        let tail = (-x.abs()).exp().ln_1p();
        T::of_work(if x.is_nan() { x } else { x.max(<<T as FloatElement>::Work>::default()) + tail })
    }), else => Err(no_kernel("Softplus", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    cx.give(0, cx.call("SoftplusGrad", [dy, x]));
    Ok(())
}

cases! {
    bends: "Softplus([-inf -3.0 0.0 7.0 100.0 inf nan]) ~ [0.0 0.04858736 0.6931472 7.0009117 100.0 inf nan]",
    shape: "Softplus(f32[?,3]) : f32[?,3]",
    no_integers: "Softplus([1]) ! does not work on i32",
}
