//! `LogicalOr`: either.

use super::numbers::Mask;
use millstream_graph::op::{OpDef, Operator};
use millstream_tensor::DType::Bool;

struct Formula;

impl<T: super::numbers::Math + Mask> super::elementwise::Binary<T> for Formula {
    type Out = T;
    #[inline(always)]
    fn at(x: T, y: T) -> T {
        x.or(y)
    }
}

pub(crate) fn def() -> OpDef {
    OpDef::new("LogicalOr")
        .doc("Whether either of `x` and `y` hold, elementwise, with broadcasting.")
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
