//! `Angle`: the argument of complex numbers.

use super::complex_parts::parts_op;
use crate::shared::gradient::{part, whole, whole_of_real};
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Pairs => x.angle(), T::Part);

pub(crate) fn def() -> OpDef {
    parts_op("Angle", "input", "output", kernel!(turn, complexes, Formula))
        .doc("Computes the argument (angle) of each element, in -pi..=pi.")
        .gradient(Gradient::of(grad))
}

// d angle(a + bi) = (a db - b da) / (a² + b²): the coefficients are the parts of -1 / (b + ai).
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let (re, im) = (part(cx, "Real", x), part(cx, "Imag", x));
    let z = cx.call("Reciprocal", [whole(cx, im, re)]);
    let dy = whole_of_real(cx, dy);
    cx.give(0, -dy * z);
    Ok(())
}

cases! {
    values: "Angle(c64 [3+4i -1]) ~ [0.9272952 3.1415927]",
    keeps_the_shape: "Angle(c128[?,3]; Tout=f64) : f64[?,3]",
    widths_must_agree: "Angle(c128[2]) ! `T` is c128 but `Tout` is f32",
}
