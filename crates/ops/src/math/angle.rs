//! `Angle`: the angle of complex numbers.

use super::complex_parts::parts_op;
use millstream_graph::op::OpDef;

formula!(x: Pairs => x.angle(), T::Part);

pub(crate) fn def() -> OpDef {
    parts_op("Angle", "input", "output", kernel!(turn, complexes, Formula)).doc("The angle of each element, in -pi..=pi.")
}

cases! {
    values: "Angle(c64 [3+4i -1]) ~ [0.9272952 3.1415927]",
    keeps_the_shape: "Angle(c128[?,3]; Tout=f64) : f64[?,3]",
    widths_must_agree: "Angle(c128[2]) ! `T` is c128 but `Tout` is f32",
}
