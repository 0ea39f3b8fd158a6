//! `Reciprocal` and `Inv`: one over x.

use millstream_graph::op::OpDef;

formula!(x: Num => T::int(1).div(x));

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "One over each element; of integers rounded towards zero.";
    [unary!("Reciprocal", numbers, Formula).doc(doc), unary!("Inv", numbers, Formula).doc(doc)]
}

cases! {
    inverts: "Reciprocal([2.0 -0.5 0.0]) = [0.5 -2.0 inf]",
    by_its_old_name: "Inv(f64 4) = f64 0.25",
    of_complex: "Inv(c64 [2i]) ~ c64 [-0.5i]",
    keeps_the_shape: "Inv(f32[?]) : f32[?]",
    refuses_bools: "Inv(true) ! `T`",
}
