//! `LogicalAnd`: the logical and.

use crate::number::Mask;
use millstream_graph::op::{Meaning, OpDef, Operator};
use millstream_tensor::DType::Bool;

struct Formula;

impl<T: crate::number::Math + Mask> crate::shared::elementwise::Binary<T> for Formula {
    type Out = T;
    #[inline(always)]
    fn at(x: T, y: T) -> T {
        x.and(y)
    }
}

pub(crate) fn def() -> OpDef {
    OpDef::new("LogicalAnd")
        .doc("Computes the logical and of `x` and `y`, elementwise, with broadcasting.")
        .input("x", Bool)
        .input("y", Bool)
        .output("z", Bool)
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, bools, Formula))
        .operator(Operator::BitAnd)
        .means(Meaning::And)
}

cases! {
    table: "LogicalAnd([true true false false], [true false true false]) = [true false false false]",
    broadcasts: "LogicalAnd(bool[?,1], bool[5]) : bool[?,5]",
    refuses_numbers: "LogicalAnd(1, 2) ! `x`",
}
