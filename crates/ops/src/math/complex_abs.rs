//! `ComplexAbs`: the absolute value of complex numbers.

use super::complex_parts::parts_op;
use crate::shared::gradient::whole_of_real;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Pairs => x.size(), T::Part);

pub(crate) fn def() -> OpDef {
    parts_op("ComplexAbs", "x", "y", kernel!(turn, complexes, Formula))
        .doc("Computes the absolute value of each complex element.")
        .gradient(Gradient::of(grad))
}

// d |x| is the component of dx in the direction of x, and 0 at 0.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let dy = whole_of_real(cx, dy);
    cx.give(0, dy * cx.call("Sign", [x]));
    Ok(())
}

cases! {
    values: "ComplexAbs(c64 [3+4i -1]) ~ [5.0 1.0]",
    keeps_the_shape: "ComplexAbs(c128[?,3]; Tout=f64) : f64[?,3]",
    widths_must_agree: "ComplexAbs(c128[2]) ! `T` is c128 but `Tout` is f32",
}
