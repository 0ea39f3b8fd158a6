//! `PopulationCount`: the number of bits that are set.

use millstream_graph::op::OpDef;
use millstream_graph::op::spec::OneOf;
use millstream_tensor::DType::U8;
use millstream_tensor::dtypes;

formula!(x: Int => x.ones(), u8);

pub(crate) fn def() -> OpDef {
    OpDef::new("PopulationCount")
        .doc("Returns the number of bits that are 1 in each element.")
        .input("x", "T")
        .output("y", U8)
        .attr("T", OneOf(dtypes!(ints)))
        .infer(|cx| cx.same_as_input())
        .kernel(kernel!(turn, ints, Formula))
}

cases! {
    counts: "PopulationCount([0 7 -1]) = u8 [0 3 32]",
    keeps_the_shape: "PopulationCount(i64[?,2]) : u8[?,2]",
    refuses_floats: "PopulationCount(1.0) ! `T`",
}
