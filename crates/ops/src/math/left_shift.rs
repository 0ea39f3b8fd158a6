//! `LeftShift`: the bitwise left shift.

use millstream_graph::op::OpDef;

formula!(x, y: Int => x.shl(y));

pub(crate) fn def() -> OpDef {
    binary!("LeftShift", ints, Formula).doc(
        "Shifts the bits of `x` left by `y` positions, elementwise, with broadcasting. `y` is clamped \
         to 0 up to the number of bits minus one.",
    )
}

cases! {
    shifts: "LeftShift([1 1 -1], [4 31 3]) = [16 -2147483648 -8]",
    clamps: "LeftShift([1 1], [-3 40]) = [1 -2147483648]",
    broadcasts_shapes: "LeftShift(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "LeftShift(i32[2], i32[3]) ! do not broadcast",
}
