//! `BitwiseXor`: the bitwise exclusive or.

use millstream_graph::op::{OpDef, Operator};

formula!(x, y: Int => x.bit_xor(y));

pub(crate) fn def() -> OpDef {
    binary!("BitwiseXor", ints, Formula)
        .doc("Computes the bitwise exclusive or of `x` and `y`, elementwise, with broadcasting.")
        .operator(Operator::BitXor)
}

cases! {
    bits: "BitwiseXor(12, 10) = 6",
    rows: "BitwiseXor(u8[2,1] [[12] [0]], u8[1] [10]) = u8[2,1] [[6] [10]]",
    refuses_bools: "BitwiseXor(true, true) ! `T`",
    broadcasts_shapes: "BitwiseXor(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "BitwiseXor(i32[2], i32[3]) ! do not broadcast",
}
