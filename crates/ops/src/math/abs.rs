//! `Abs`: the absolute value.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Real => x.abs());

pub(crate) fn def() -> OpDef {
    unary!("Abs", reals, Formula)
        .doc(
            "Computes the absolute value of each element. The least integer of a signed dtype is its own \
             absolute value.",
        )
        .gradient(Gradient::of(grad))
}

// d |x| = sign(x) dx, which is 0 at 0.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    cx.give(0, dy * cx.call("Sign", [x]));
    Ok(())
}

cases! {
    drops_signs: "Abs([-1.5 -0.0 2.0]) = [1.5 0.0 2.0]",
    wraps_around: "Abs(i8 [-128 -5]) = i8 [-128 5]",
    keeps_the_shape: "Abs(i64[?]) : i64[?]",
    refuses_complex: "Abs(c64 1+1i) ! `T`",
}
