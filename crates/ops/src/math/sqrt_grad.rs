//! `SqrtGrad`: the gradient of Sqrt.

use super::gradient_ops::gradient_op;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

// A zero gradient stays zero, even where the function is not finite.
formula!(y, dy: Field => T::select(dy.equal(T::int(0)), T::int(0), dy.mul(T::lit(0.5)).div(y.conj())));

pub(crate) fn def() -> OpDef {
    gradient_op("SqrtGrad", kernel!(binary, fields, Formula))
        .doc(
            "Computes `dy * 0.5 / y`, the gradient of `y = sqrt(x)`. For complex numbers, the conjugate of \
             `y` is used.",
        )
        .gradient(Gradient::of(grad))
}

// z = dy / (2 y̅)
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, y) = (cx.grad(0), cx.input(0));
    let share = dz / y;
    if cx.wants(0) {
        let z = cx.output(0);
        cx.give(0, -(cx.conj(share) * z));
    }
    if cx.wants(1) {
        cx.give(1, share * 0.5);
    }
    Ok(())
}

cases! {
    values: "SqrtGrad([2.0], [3.0]) = [0.75]",
    nothing_of_nothing: "SqrtGrad([0.0 0.0], [0.0 1.0]) = [0.0 inf]",
    keeps_shapes: "SqrtGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    wants_equal_shapes: "SqrtGrad(f32[2], f32[3]) ! must be equal",
}
