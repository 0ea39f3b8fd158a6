//! `Relu`: the rectified linear unit.

use super::activation::{activation, map};
use crate::number::{Number, Real, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    activation("Relu", run)
        .doc("Computes `max(features, 0)`. NaN is kept.")
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in reals => map::<T>(cx, |x| Real::max(T::ZERO, x)), else => Err(no_kernel("Relu", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    cx.give(0, cx.call("ReluGrad", [dy, y]));
    Ok(())
}

cases! {
    cuts: "Relu([-1.0 0.0 2.0 nan]) = [0.0 0.0 2.0 nan]",
    integers: "Relu([-1 7]) = [0 7]",
    shape: "Relu(f32[?,3]) : f32[?,3]",
    no_complex_numbers: "Relu(c64[1] [1j]) ! does not work on c64",
}
