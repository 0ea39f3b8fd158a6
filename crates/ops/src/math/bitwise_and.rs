//! `BitwiseAnd`: the bitwise and.

use millstream_graph::op::OpDef;

formula!(x, y: Int => x.bit_and(y));

pub(crate) fn def() -> OpDef {
    binary!("BitwiseAnd", ints, Formula)
        .doc("Computes the bitwise and of `x` and `y`, elementwise, with broadcasting.")
}

cases! {
    bits: "BitwiseAnd(12, 10) = 8",
    rows: "BitwiseAnd(u8[2,1] [[12] [0]], u8[1] [10]) = u8[2,1] [[8] [0]]",
    refuses_bools: "BitwiseAnd(true, true) ! `T`",
    broadcasts_shapes: "BitwiseAnd(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "BitwiseAnd(i32[2], i32[3]) ! do not broadcast",
}
