//! `Square`: the square.

use millstream_graph::op::{GradCx, Gradient, Meaning, OpDef};
use millstream_tensor::Result;

formula!(x: Num => x.mul(x));

pub(crate) fn def() -> OpDef {
    unary!("Square", numbers, Formula)
        .doc("Computes the square of each element. Integers wrap around.")
        .means(Meaning::Square)
        .gradient(Gradient::of(grad))
}

// d x² = 2 x dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad_as_factor(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, dy * (x * 2.0));
    Ok(())
}

cases! {
    squares: "Square([1.5 -2.0]) = [2.25 4.0]",
    wraps_around: "Square(i8 [16 -3]) = i8 [0 9]",
    of_complex: "Square(c64 [1+2i]) = c64 [-3+4i]",
    keeps_the_shape: "Square(f32[?]) : f32[?]",
    refuses_bools: "Square(true) ! `T`",
}
