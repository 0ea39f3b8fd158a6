//! `MulNoNan`: the product, or zero where the second factor is zero.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x, y: Field => T::select(y.equal(T::int(0)), T::int(0), x.mul(y)));

pub(crate) fn def() -> OpDef {
    binary!("MulNoNan", fields, Formula)
        .doc(
            "Computes `x * y` elementwise, with broadcasting. The result is 0 where `y` is 0, even if `x` \
             is infinite or NaN.",
        )
        .gradient(Gradient::of(grad))
}

// d(x y) = y dx + x dy. The first term is 0 where y is, the second where dz is.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    if cx.wants(0) {
        let y = cx.input(1);
        let y = cx.conj(y);
        cx.give_summed(0, cx.call("MulNoNan", [dz, y]));
    }
    if cx.wants(1) {
        let x = cx.input(0);
        let x = cx.conj(x);
        cx.give_summed(1, cx.call("MulNoNan", [x, dz]));
    }
    Ok(())
}

cases! {
    zero_for_zero: "MulNoNan([nan inf 2.0], [0.0 -0.0 3.0]) = [0.0 0.0 6.0]",
    only_by_the_second: "MulNoNan(0.0, nan) = nan",
    broadcasts_shapes: "MulNoNan(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_shapes_that_fit: "MulNoNan(f32[2], f32[3]) ! do not broadcast",
}
