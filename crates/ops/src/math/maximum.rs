//! `Maximum`: the elementwise maximum.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

// As in TensorFlow, `x` where the numbers do not compare: a NaN in `x` stays, one in `y` is passed over.
formula!(x, y: Real => T::select(x.less(y), y, x));

pub(crate) fn def() -> OpDef {
    binary!("Maximum", reals, Formula)
        .doc(
            "Computes the maximum of `x` and `y`, elementwise, with broadcasting. The result is `x` where \
             either is NaN, as in TensorFlow.",
        )
        .gradient(Gradient::of(grad))
}

// The gradient goes to the operand that was returned, and to x where both are equal.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, zero) = (cx.grad(0), cx.scalar(cx.dtype(0), 0.0));
    let (x, y) = (cx.input(0), cx.input(1));
    let of_x = cx.call("GreaterEqual", [x, y]);
    if cx.wants(0) {
        cx.give_summed(0, cx.call("SelectV2", [of_x, dz, zero]));
    }
    if cx.wants(1) {
        cx.give_summed(1, cx.call("SelectV2", [of_x, zero, dz]));
    }
    Ok(())
}

cases! {
    greater: "Maximum([1 5], 3) = [3 5]",
    first_beside_nans: "Maximum([nan 1.0 2.0], [1.0 nan 3.0]) = [nan 1.0 3.0]",
    first_of_equals: "Maximum([0.0 -0.0], [-0.0 0.0]) = [0.0 -0.0]",
    broadcasts_shapes: "Maximum(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "Maximum(i32[2], i32[3]) ! do not broadcast",
}
