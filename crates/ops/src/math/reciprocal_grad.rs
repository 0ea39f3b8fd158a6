//! `ReciprocalGrad` and `InvGrad`: the gradient of Reciprocal.

use super::gradient_ops::gradient_op;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

// A zero gradient stays zero, even where the function is not finite.
formula!(y, dy: Field => T::select(dy.equal(T::int(0)), T::int(0), dy.neg().mul(y.conj()).mul(y.conj())));

pub(crate) fn def() -> [OpDef; 2] {
    ["ReciprocalGrad", "InvGrad"].map(|name| {
        gradient_op(name, kernel!(binary, fields, Formula))
            .doc(
                "Computes `-dy * y * y`, the gradient of `y = 1 / x`. For complex numbers, the conjugate of \
                 `y` is used.",
            )
            .gradient(Gradient::of(grad))
    })
}

// z = -y̅² dy
fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    if cx.wants(0) {
        let (y, dy) = (cx.input(0), cx.input(1));
        let (y, dz) = (cx.conj(y), cx.conj(dz));
        cx.give(0, dz * (dy * y * -2.0));
    }
    if cx.wants(1) {
        let y = cx.input(0);
        let y = cx.conj(y);
        cx.give(1, cx.call("ReciprocalGrad", [y, dz]));
    }
    Ok(())
}

cases! {
    values: "ReciprocalGrad([0.5], [2.0]) = [-0.5]",
    by_its_old_name: "InvGrad(f64 2, f64 1) = f64 -4",
    keeps_shapes: "InvGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    wants_equal_shapes: "InvGrad(f32[2], f32[3]) ! must be equal",
}
