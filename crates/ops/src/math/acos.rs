//! `Acos`: the arc cosine.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.acos());

pub(crate) fn def() -> OpDef {
    unary!("Acos", fields, Formula)
        .doc("Computes the arc cosine of each element. The result is NaN for real elements outside -1..=1.")
        .gradient(Gradient::of(grad))
}

// d acos(x) = -dx / √(1 - x²)
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    let root = cx.call("Sqrt", [1.0 - cx.call("Square", [x])]);
    cx.give(0, -(dy / root));
    Ok(())
}

cases! {
    values: "Acos([1.0 0.5 -1.0]) ~ [0.0 1.0471975511965979 3.141592653589793]",
    values_in_f64: "Acos(f64 [1.0 0.5 -1.0]) ~ f64 [0.0 1.0471975511965979 3.141592653589793]",
    keeps_the_shape: "Acos(f32[?,3]) : f32[?,3]",
    refuses_integers: "Acos(1) ! `T`",
}
