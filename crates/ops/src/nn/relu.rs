//! `Relu`: negative numbers become 0.

use super::activation::{activation, map};
use crate::number::{Number, Real, with_real};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;


pub(crate) fn def() -> OpDef {
    activation("Relu", run)
        .doc("`max(features, 0)`; NaN stays.")
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_real!("Relu", cx.input(0).dtype(), T => map::<T>(cx, |x| x.greater(T::ZERO)))?;
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
