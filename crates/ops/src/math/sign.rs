//! `Sign`: the sign.

use crate::shared::gradient::{part, whole_of_real};
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::DType::{C128, F32, F64};
use millstream_tensor::Result;

formula!(x: Num => x.sign());

pub(crate) fn def() -> OpDef {
    unary!("Sign", numbers, Formula)
        .doc(
            "Returns the sign of each element: -1, 0 or 1 for real numbers (0 for NaN), `x / |x|` for \
             complex numbers.",
        )
        .gradient(Gradient::of(grad))
}

// The sign of a real number is piecewise constant: its gradient is zero. That of a complex number is a
// direction, which changes only with the component of dx perpendicular to it: s = x / |x|,
// ds = (dx - s Re(s̅ dx)) / |x|.
fn grad(cx: &mut GradCx) -> Result<()> {
    if cx.dtype(0).is_complex() {
        let (dy, x, y) = (cx.grad(0), cx.input(0), cx.output(0));
        let along = part(cx, "Real", cx.conj(y) * dy);
        let across = dy - y * whole_of_real(cx, along);
        let size =
            cx.op("ComplexAbs").input(x).attr("Tout", if cx.dtype(0) == C128 { F64 } else { F32 }).output();
        cx.give(0, cx.call("DivNoNan", [across, whole_of_real(cx, size)]));
    } else {
        let zeros = cx.zeros_like_input(0);
        cx.give(0, zeros);
    }
    Ok(())
}

cases! {
    signs: "Sign([-2.5 -0.0 0.0 7.0 nan]) = [-1.0 0.0 0.0 1.0 0.0]",
    of_integers: "Sign([-3 0 9]) = [-1 0 1]",
    of_complex: "Sign(c64 [3+4i 0]) = c64 [0.6+0.8i 0]",
    keeps_the_shape: "Sign(f32[?]) : f32[?]",
    refuses_bools: "Sign(true) ! `T`",
}
