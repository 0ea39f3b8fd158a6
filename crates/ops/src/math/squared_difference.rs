//! `SquaredDifference`: the square of the difference.

use crate::shared::gradient::{part, whole_of_real};
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x, y: Num => x.sub(y).mul(x.sub(y).conj()));

pub(crate) fn def() -> OpDef {
    binary!("SquaredDifference", numbers, Formula)
        .doc(
            "Computes `(x - y)^2` elementwise, with broadcasting. For complex numbers, computes \
             `|x - y|^2`.",
        )
        .gradient(Gradient::of(grad))
}

// d(x - y)² = 2 (x - y) (dx - dy). For complex numbers the result |x - y|² is real, so only the real part of
// its gradient counts.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (mut dz, x, y) = (cx.grad(0), cx.input(0), cx.input(1));
    if cx.dtype(0).is_complex() {
        let real = part(cx, "Real", dz);
        dz = whole_of_real(cx, real);
    }
    let dx = dz * 2.0 * (x - y);
    cx.give_summed(0, dx);
    if cx.wants(1) {
        cx.give_summed(1, -dx);
    }
    Ok(())
}

cases! {
    squares: "SquaredDifference([1.0 5.0], 3.0) = [4.0 4.0]",
    complex: "SquaredDifference(c64 [1+2i], c64 [3-1i]) = c64 [13]",
    broadcasts_shapes: "SquaredDifference(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "SquaredDifference(i32[2], i32[3]) ! do not broadcast",
}
