//! `SquaredDifference`: the square of the difference.

use millstream_graph::op::OpDef;

formula!(x, y: Num => x.sub(y).mul(x.sub(y).conj()));

pub(crate) fn def() -> OpDef {
    binary!("SquaredDifference", numbers, Formula).doc("`(x - y)^2`; of complex numbers `|x - y|^2`.")
}

cases! {
    squares: "SquaredDifference([1.0 5.0], 3.0) = [4.0 4.0]",
    complex: "SquaredDifference(c64 [1+2i], c64 [3-1i]) = c64 [13]",
    broadcasts_shapes: "SquaredDifference(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "SquaredDifference(i32[2], i32[3]) ! do not broadcast",
}
