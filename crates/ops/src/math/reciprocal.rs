//! `Reciprocal` and `Inv`: the reciprocal.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Num => T::int(1).div(x));

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Computes the reciprocal of each element. For integers it is rounded towards zero.";
    [unary!("Reciprocal", numbers, Formula), unary!("Inv", numbers, Formula)]
        .map(|def| def.doc(doc).gradient(Gradient::of(grad)))
}

// d(1 / x) = -dx / x²
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    cx.give(0, cx.call("ReciprocalGrad", [y, dy]));
    Ok(())
}

cases! {
    inverts: "Reciprocal([2.0 -0.5 0.0]) = [0.5 -2.0 inf]",
    by_its_old_name: "Inv(f64 4) = f64 0.25",
    of_complex: "Inv(c64 [2i]) ~ c64 [-0.5i]",
    keeps_the_shape: "Inv(f32[?]) : f32[?]",
    refuses_bools: "Inv(true) ! `T`",
}
