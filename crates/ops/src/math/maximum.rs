//! `Maximum`: the greater of two.

use millstream_graph::op::OpDef;

formula!(x, y: Real => x.max(y));

pub(crate) fn def() -> OpDef {
    binary!("Maximum", reals, Formula).doc("The greater of `x` and `y`, elementwise, with broadcasting; NaN if either is.")
}

cases! {
    greater: "Maximum([1 5], 3) = [3 5]",
    keeps_nans: "Maximum([nan 1.0 2.0], [1.0 nan 3.0]) = [nan nan 3.0]",
    first_of_equals: "Maximum([0.0 -0.0], [-0.0 0.0]) = [0.0 -0.0]",
    broadcasts_shapes: "Maximum(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "Maximum(i32[2], i32[3]) ! do not broadcast",
}
