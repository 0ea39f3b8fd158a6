//! `ResourceScatterMin`, `ScatterMin`: takes the minimum of rows and updates.

use super::runs::How;
use super::scatter::{defs, run};
use millstream_graph::op::OpDef;
use millstream_graph::op::spec::RealNumber;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Sets row `indices[i]` of the variable to the elementwise minimum of the row and `updates[i]`.";
    defs(("ResourceScatterMin", "ScatterMin"), doc, || RealNumber.into(), false, |cx| run(cx, How::Min))
}

cases! {
    lesser: "ResourceScatterMin(@[1 20 90], [2 0 2], [9 8 12]) = [1 20 9]",
    gives_the_reference: "ScatterMin(&f32[3] [1 2 3], [0 2], f32 2) = f32[3] [1 2 2]",
    keeps_the_shape: "ScatterMin(&f32[?,3], i32[2], f32[2,3]) : f32[?,3]",
    index_in_range: "ScatterMin(&[1 2 3], [0 3], [8 9]) ! `indices`[1] is 3, which is not in 0..3",
}
