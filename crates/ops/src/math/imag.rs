//! `Imag`: the imaginary part of complex numbers.

use super::complex_parts::parts_op;
use crate::shared::gradient::whole;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Pairs => x.im(), T::Part);

pub(crate) fn def() -> OpDef {
    parts_op("Imag", "input", "output", kernel!(turn, complexes, Formula))
        .doc("Returns the imaginary part of each element.")
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let zero = cx.scalar(cx.output_dtype(0), 0.0);
    let dx = whole(cx, zero, dy);
    cx.give(0, dx);
    Ok(())
}

cases! {
    values: "Imag(c64 [3+4i -1]) ~ [4.0 0.0]",
    keeps_the_shape: "Imag(c128[?,3]; Tout=f64) : f64[?,3]",
    widths_must_agree: "Imag(c128[2]) ! `T` is c128 but `Tout` is f32",
}
