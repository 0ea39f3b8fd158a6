//! `LogicalNot`: the logical not.

use crate::number::Mask;
use millstream_graph::op::{OpDef, Operator};
use millstream_tensor::DType::Bool;

struct Formula;

impl<T: crate::number::Math + Mask> crate::shared::elementwise::Unary<T> for Formula {
    type Out = T;
    #[inline(always)]
    fn at(x: T) -> T {
        x.not()
    }
}

pub(crate) fn def() -> OpDef {
    OpDef::new("LogicalNot")
        .doc("Computes the logical not of each element.")
        .input("x", Bool)
        .output("y", Bool)
        .infer(|cx| cx.same_as_input())
        .kernel(kernel!(unary, bools, Formula))
        .operator(Operator::Not)
}

cases! {
    table: "LogicalNot([true false]) = [false true]",
    keeps_the_shape: "LogicalNot(bool[?,5]) : bool[?,5]",
    refuses_numbers: "LogicalNot(1) ! `x`",
}
