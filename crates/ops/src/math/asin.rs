//! `Asin`: the arc sine.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Field => x.asin());

pub(crate) fn def() -> OpDef {
    unary!("Asin", fields, Formula)
        .doc("Computes the arc sine of each element. The result is NaN for real elements outside -1..=1.")
        .gradient(Gradient::of(grad))
}

// d asin(x) = dx / √(1 - x²)
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let x = cx.conj(x);
    cx.give(0, dy / cx.call("Sqrt", [1.0 - cx.call("Square", [x])]));
    Ok(())
}

cases! {
    values: "Asin([0.0 0.5 -1.0]) ~ [0.0 0.5235987755982989 -1.5707963267948966]",
    values_in_f64: "Asin(f64 [0.0 0.5 -1.0]) ~ f64 [0.0 0.5235987755982989 -1.5707963267948966]",
    keeps_the_shape: "Asin(f32[?,3]) : f32[?,3]",
    refuses_integers: "Asin(1) ! `T`",
}
