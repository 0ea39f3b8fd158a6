//! `DivNoNan`: the quotient, or zero where the divisor is zero.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x, y: Field => T::select(y.equal(T::int(0)), T::int(0), x.div(y)));

pub(crate) fn def() -> OpDef {
    binary!("DivNoNan", fields, Formula)
        .doc("Computes `x / y` elementwise, with broadcasting. The result is 0 where `y` is 0.")
        .gradient(Gradient::of(grad))
}

// d(x / y) = dx / y - (x / y) / y dy, and both are 0 where y is.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, y) = (cx.grad(0), cx.input(1));
    let y = cx.conj(y);
    if cx.wants(0) {
        cx.give_summed(0, cx.call("DivNoNan", [dz, y]));
    }
    if cx.wants(1) {
        let z = cx.output(0);
        let z = cx.conj(z);
        cx.give_summed(1, -dz * cx.call("DivNoNan", [z, y]));
    }
    Ok(())
}

cases! {
    zero_for_zero: "DivNoNan([1.0 nan 3.0], [0.0 0.0 2.0]) = [0.0 0.0 1.5]",
    infinite_quotients_stay: "DivNoNan(inf, 2.0) = inf",
    broadcasts_shapes: "DivNoNan(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_shapes_that_fit: "DivNoNan(f32[2], f32[3]) ! do not broadcast",
}
