//! `BesselI0e`: Bessel's modified function of order 0, scaled.

use millstream_graph::op::OpDef;

formula!(x: Float => x.bessel_i0e());

pub(crate) fn def() -> OpDef {
    unary!("BesselI0e", floats, Formula).doc("Bessel's modified function of order 0 of `x`, times `e^-|x|`, which keeps it from overflowing.")
}

cases! {
    values: "BesselI0e([0.0 1.0 -1.0 30.0 inf]) ~ [1.0 0.46575960759364043 0.46575960759364043 0.07314594649423728 0.0]",
    large: "BesselI0e(f64 [800.0 39.9]) ~ f64 [0.014106953201206487 0.06335734049126405]",
    keeps_the_shape: "BesselI0e(f32[?,3]) : f32[?,3]",
    refuses_integers: "BesselI0e(1) ! `T`",
}
