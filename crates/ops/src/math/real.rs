//! `Real`: the real part of complex numbers.

use super::complex_parts::parts_op;
use crate::shared::gradient::whole_of_real;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Pairs => x.re(), T::Part);

pub(crate) fn def() -> OpDef {
    parts_op("Real", "input", "output", kernel!(turn, complexes, Formula))
        .doc("Returns the real part of each element.")
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let dx = whole_of_real(cx, dy);
    cx.give(0, dx);
    Ok(())
}

cases! {
    values: "Real(c64 [3+4i -1]) ~ [3.0 -1.0]",
    keeps_the_shape: "Real(c128[?,3]; Tout=f64) : f64[?,3]",
    widths_must_agree: "Real(c128[2]) ! `T` is c128 but `Tout` is f32",
}
