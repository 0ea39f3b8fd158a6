//! `Mod`: the older name of `TruncateMod`. Dividing an integer by zero has another status code.

use super::truncate_mod::documented;
use crate::shared::elementwise::Failure;
use millstream_graph::op::OpDef;

formula!(x, y: Real => x.trunc_mod(y); y.divides_nothing() => Failure::DIVISION);

pub(crate) fn def() -> OpDef {
    documented(binary!("Mod", reals, Formula))
}

cases! {
    has_the_sign_of_the_dividend: "Mod([-7.0 7.5], [3.0 2.0]) = [-1.0 1.5]",
    refuses_zero: "Mod(1, 0) ! division by zero",
    broadcasts_shapes: "Mod(i32[?,3], i32[2,1]) : i32[2,3]",
}
