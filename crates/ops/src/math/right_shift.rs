//! `RightShift`: the bitwise right shift.

use millstream_graph::op::OpDef;

formula!(x, y: Int => x.shr(y));

pub(crate) fn def() -> OpDef {
    binary!("RightShift", ints, Formula).doc(
        "Shifts the bits of `x` right by `y` positions, elementwise, with broadcasting. The sign is kept. \
         `y` is clamped to 0 up to the number of bits minus one.",
    )
}

cases! {
    shifts: "RightShift([-8 8 9], 1) = [-4 4 4]",
    clamps: "RightShift([-8 8], [40 -1]) = [-1 8]",
    broadcasts_shapes: "RightShift(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "RightShift(i32[2], i32[3]) ! do not broadcast",
}
