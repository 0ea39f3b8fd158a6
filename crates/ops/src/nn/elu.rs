//! `Elu`: the exponential linear unit.

use super::activation::{activation, map};
use crate::number::{FloatElement, Number, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    activation("Elu", run)
        .doc("Computes `features` where they are positive and `exp(features) - 1` elsewhere.")
        .attr("T", spec::FloatType)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => map::<T>(cx, |x| if x < T::ZERO { T::of_work(x.work().exp_m1()) } else { x }), else => Err(no_kernel("Elu", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    cx.give(0, cx.call("EluGrad", [dy, y]));
    Ok(())
}

cases! {
    bends: "Elu([-inf -3.0 0.0 7.0 inf nan]) ~ [-1.0 -0.95021296 0.0 7.0 inf nan]",
    shape: "Elu(f32[?,3]) : f32[?,3]",
    no_integers: "Elu([1]) ! does not work on i32",
}
