//! `Complex`: complex numbers from their real and imaginary parts.

use super::complex_parts::check_widths;
use crate::shared::gradient::part;
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::DType::{C64, C128, F32, F64};
use millstream_tensor::Result;

formula!(x, y: Part => x.with(y), T::Whole);

pub(crate) fn def() -> OpDef {
    OpDef::new("Complex")
        .doc("Returns complex numbers with the given real and imaginary parts, with broadcasting.")
        .input("real", "T")
        .input("imag", "T")
        .output("out", "Tout")
        .attr("T", OneOf(&[F32, F64]).or(F32))
        .attr("Tout", OneOf(&[C64, C128]).or(C64))
        .infer(|cx| {
            check_widths(cx, "Tout", "T")?;
            cx.broadcast()
        })
        .kernel(kernel!(merge, singles, Formula))
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    for (i, op) in [(0, "Real"), (1, "Imag")] {
        if cx.wants(i) {
            let part = part(cx, op, dz);
            cx.give_summed(i, part);
        }
    }
    Ok(())
}

cases! {
    joins: "Complex([1.0 2.0], [3.0 -4.0]) = c64 [1+3i 2-4i]",
    joins_f64: "Complex(f64 1, f64 2; Tout=c128) = c128 1+2i",
    broadcasts_shapes: "Complex(f32[?,3], f32[2,1]) : c64[2,3]",
    widths_must_agree: "Complex(f64 1, f64 2) ! Tout",
}
