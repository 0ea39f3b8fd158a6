//! `Softsign`: an activation with values between -1 and 1.

use super::activation::{activation, map};
use crate::number::{FloatElement, Number, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    activation("Softsign", run)
        .doc("Computes `features / (abs(features) + 1)`.")
        .attr("T", spec::FloatType)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => map::<T>(cx, |x| T::of_work(x.work() / (x.work().abs() + <<T as FloatElement>::Work as Number>::ONE))), else => Err(no_kernel("Softsign", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    cx.give(0, cx.call("SoftsignGrad", [dy, x]));
    Ok(())
}

cases! {
    squeezes: "Softsign([-3.0 0.0 1.0 7.0 nan]) = [-0.75 0.0 0.5 0.875 nan]",
    shape: "Softsign(f32[?,3]) : f32[?,3]",
    no_integers: "Softsign([1]) ! does not work on i32",
}
