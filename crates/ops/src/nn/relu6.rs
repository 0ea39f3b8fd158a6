//! `Relu6`: the rectified linear unit, limited to 6.

use super::activation::{activation, map};
use crate::number::{Number, Real, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    activation("Relu6", run)
        .doc("Computes `min(max(features, 0), 6)`. NaN is kept.")
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in reals => map::<T>(cx, |x| Real::min(T::count(6), Real::max(T::ZERO, x))), else => Err(no_kernel("Relu6", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    cx.give(0, cx.call("Relu6Grad", [dy, y]));
    Ok(())
}

cases! {
    cuts: "Relu6([-1.0 2.0 7.0 inf nan]) = [0.0 2.0 6.0 6.0 nan]",
    integers: "Relu6([-1 7]) = [0 6]",
    shape: "Relu6(f32[?,3]) : f32[?,3]",
    no_complex_numbers: "Relu6(c64[1] [1j]) ! does not work on c64",
}
