//! `LogicalOr`: the logical or.

use crate::number::Mask;
use millstream_graph::op::{OpDef, Operator};
use millstream_tensor::DType::Bool;

struct Formula;

impl<T: crate::number::Math + Mask> crate::shared::elementwise::Binary<T> for Formula {
    type Out = T;
    #[inline(always)]
    fn at(x: T, y: T) -> T {
        x.or(y)
    }
}

pub(crate) fn def() -> OpDef {
    OpDef::new("LogicalOr")
        .doc("Computes the logical or of `x` and `y`, elementwise, with broadcasting.")
        .input("x", Bool)
        .input("y", Bool)
        .output("z", Bool)
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, bools, Formula))
        .operator(Operator::BitOr)
}

cases! {
    table: "LogicalOr([true true false false], [true false true false]) = [true true true false]",
    broadcasts: "LogicalOr(bool[?,1], bool[5]) : bool[?,5]",
    refuses_numbers: "LogicalOr(1, 2) ! `x`",
}
