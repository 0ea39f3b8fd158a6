//! `BesselI0e`: the exponentially scaled modified Bessel function of order 0.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x: Float => x.bessel_i0e());

pub(crate) fn def() -> OpDef {
    unary!("BesselI0e", floats, Formula)
        .doc(
            "Computes the modified Bessel function of order 0 of each element, times `e^-|x|`, which keeps \
             it from overflowing.",
        )
        .gradient(Gradient::of(grad))
}

// d I₀ₑ(x) = (I₁ₑ(x) - sign(x) I₀ₑ(x)) dx
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x, y) = (cx.grad(0), cx.input(0), cx.output(0));
    cx.give(0, dy * (cx.call("BesselI1e", [x]) - cx.call("Sign", [x]) * y));
    Ok(())
}

cases! {
    values: "BesselI0e([0.0 1.0 -1.0 30.0 inf]) ~ [1.0 0.46575960759364043 0.46575960759364043 0.07314594649423728 0.0]",
    large: "BesselI0e(f64 [800.0 39.9]) ~ f64 [0.014106953201206487 0.06335734049126405]",
    keeps_the_shape: "BesselI0e(f32[?,3]) : f32[?,3]",
    refuses_integers: "BesselI0e(1) ! `T`",
}
