//! `IsFinite`: elementwise test for finite numbers.

use millstream_graph::op::OpDef;

formula!(x: Float => x.is_finite(), T::Mask);

pub(crate) fn def() -> OpDef {
    holds!("IsFinite", floats, Formula).doc("Returns whether each element is neither infinite nor NaN.")
}

cases! {
    finds: "IsFinite([nan 1.0 inf -inf]) = [false true false false]",
    keeps_the_shape: "IsFinite(f64[2,?]) : bool[2,?]",
    refuses_integers: "IsFinite(1) ! `T`",
}
