//! `BitwiseOr`: the bitwise or.

use millstream_graph::op::OpDef;

formula!(x, y: Int => x.bit_or(y));

pub(crate) fn def() -> OpDef {
    binary!("BitwiseOr", ints, Formula)
        .doc("Computes the bitwise or of `x` and `y`, elementwise, with broadcasting.")
}

cases! {
    bits: "BitwiseOr(12, 10) = 14",
    rows: "BitwiseOr(u8[2,1] [[12] [0]], u8[1] [10]) = u8[2,1] [[14] [10]]",
    refuses_bools: "BitwiseOr(true, true) ! `T`",
    broadcasts_shapes: "BitwiseOr(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "BitwiseOr(i32[2], i32[3]) ! do not broadcast",
}
