//! `IsNan`: elementwise test for NaN.

use millstream_graph::op::OpDef;

formula!(x: Float => x.is_nan(), T::Mask);

pub(crate) fn def() -> OpDef {
    holds!("IsNan", floats, Formula).doc("Returns whether each element is NaN.")
}

cases! {
    finds_nans: "IsNan([nan 1.0 inf]) = [true false false]",
    keeps_the_shape: "IsNan(f64[2,?]) : bool[2,?]",
    refuses_integers: "IsNan(1) ! `T`",
}
