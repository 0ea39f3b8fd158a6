//! `BesselI1e`: the exponentially scaled modified Bessel function of order 1.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::DType;
use millstream_tensor::Result;

formula!(x: Float => x.bessel_i1e());

pub(crate) fn def() -> OpDef {
    unary!("BesselI1e", floats, Formula)
        .doc(
            "Computes the modified Bessel function of order 1 of each element, times `e^-|x|`, which keeps \
             it from overflowing.",
        )
        .gradient(Gradient::of(grad))
}

// d I₁ₑ(x) = (I₀ₑ(x) - (sign(x) + 1/x) I₁ₑ(x)) dx, which approaches dx / 2 at 0.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x, y, dtype) = (cx.grad(0), cx.input(0), cx.output(0), cx.dtype(0));
    let tiny = cx.scalar(dtype, if dtype == DType::F64 { f64::EPSILON } else { f32::EPSILON.into() });
    let far = cx.call("Greater", [cx.call("Abs", [x]), tiny]);
    let x = cx.call("SelectV2", [far, x, tiny]);
    let slope = cx.call("BesselI0e", [x]) - y * (cx.call("Sign", [x]) + cx.call("Reciprocal", [x]));
    cx.give(0, dy * cx.call("SelectV2", [far, slope, cx.scalar(dtype, 0.5)]));
    Ok(())
}

cases! {
    values: "BesselI1e([0.0 1.0 -1.0 30.0 inf]) ~ [0.0 0.2079104153497085 -0.2079104153497085 0.07191632986171893 0.0]",
    large: "BesselI1e(f64 800.0) ~ f64 0.014098133587094756",
    keeps_the_shape: "BesselI1e(f32[?,3]) : f32[?,3]",
    refuses_integers: "BesselI1e(1) ! `T`",
}
