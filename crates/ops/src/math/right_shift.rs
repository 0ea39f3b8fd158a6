//! `RightShift`: bits shifted down.

use millstream_graph::op::OpDef;

formula!(x, y: Int => x.shr(y));

pub(crate) fn def() -> OpDef {
    binary!("RightShift", ints, Formula).doc("The bits of `x` moved down by `y` places, `y` kept within 0 and the width less one; the sign is kept.")
}

cases! {
    shifts: "RightShift([-8 8 9], 1) = [-4 4 4]",
    clamps: "RightShift([-8 8], [40 -1]) = [-1 8]",
    broadcasts_shapes: "RightShift(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "RightShift(i32[2], i32[3]) ! do not broadcast",
}
