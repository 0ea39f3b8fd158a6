//! `BesselI1e`: Bessel's modified function of order 1, scaled.

use millstream_graph::op::OpDef;

formula!(x: Float => x.bessel_i1e());

pub(crate) fn def() -> OpDef {
    unary!("BesselI1e", floats, Formula).doc("Bessel's modified function of order 1 of `x`, times `e^-|x|`, which keeps it from overflowing.")
}

cases! {
    values: "BesselI1e([0.0 1.0 -1.0 30.0 inf]) ~ [0.0 0.2079104153497085 -0.2079104153497085 0.07191632986171893 0.0]",
    large: "BesselI1e(f64 800.0) ~ f64 0.014098133587094756",
    keeps_the_shape: "BesselI1e(f32[?,3]) : f32[?,3]",
    refuses_integers: "BesselI1e(1) ! `T`",
}
