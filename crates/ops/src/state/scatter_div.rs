//! `ResourceScatterDiv`, `ScatterDiv`: divides rows of a variable.

use super::runs::How;
use super::scatter::{defs, run};
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::Number;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Divides row `indices[i]` of the variable by `updates[i]`. Updates with equal indices are \
               applied one after the other. Integer quotients are truncated.";
    defs(("ResourceScatterDiv", "ScatterDiv"), doc, || Number.into(), false, |cx| run(cx, How::Div))
}

cases! {
    divides: "ResourceScatterDiv(@[1 20 90], [2 0 2], [9 8 2]) = [0 20 5]",
    gives_the_reference: "ScatterDiv(&f32[3] [1 2 3], [0 2], f32 2) = f32[3] [0.5 2 1.5]",
    keeps_the_shape: "ScatterDiv(&f32[?,3], i32[2], f32[2,3]) : f32[?,3]",
    not_by_zero: "ScatterDiv(&[1 2 3], [0 1], [8 0]) ! `updates` divides by 0",
}
