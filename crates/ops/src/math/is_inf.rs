//! `IsInf`: elementwise test for infinities.

use millstream_graph::op::OpDef;

formula!(x: Float => x.is_inf(), T::Mask);

pub(crate) fn def() -> OpDef {
    holds!("IsInf", floats, Formula).doc("Returns whether each element is positive or negative infinity.")
}

cases! {
    finds: "IsInf([nan 1.0 inf -inf]) = [false false true true]",
    keeps_the_shape: "IsInf(f64[2,?]) : bool[2,?]",
    refuses_integers: "IsInf(1) ! `T`",
}
