//! `TruncateMod`: the remainder with the sign of the dividend.

use crate::shared::elementwise::Failure;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x, y: Real => x.trunc_mod(y); y.divides_nothing() => Failure::TRUNCATING_DIVISION);

pub(crate) fn def() -> OpDef {
    documented(binary!("TruncateMod", reals, Formula))
}

/// Adds the doc and the gradient, which `Mod` shares.
pub(super) fn documented(def: OpDef) -> OpDef {
    def.doc(
        "Computes the remainder of `x / y` rounded towards zero, elementwise, with broadcasting. It has the \
         sign of `x`.",
    )
    .gradient(Gradient::of(grad))
}

// d(x mod y) = dx - trunc(x / y) dy
fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    cx.give_summed(0, dz);
    if cx.wants(1) {
        let (x, y) = (cx.input(0), cx.input(1));
        let whole = cx.call("FloorDiv", [cx.call("Abs", [x]), cx.call("Abs", [y])]);
        let sign = cx.call("Sign", [x]) * cx.call("Sign", [y]);
        cx.give_summed(1, dz * -(whole * sign));
    }
    Ok(())
}

cases! {
    has_the_sign_of_the_dividend: "TruncateMod([7 -7 7], [3 3 -3]) = [1 -1 1]",
    refuses_zero: "TruncateMod(1, 0) ! division by zero",
    broadcasts_shapes: "TruncateMod(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "TruncateMod(i32[2], i32[3]) ! do not broadcast",
}
