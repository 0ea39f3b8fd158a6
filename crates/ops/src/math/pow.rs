//! `Pow`: x to the power of y.

use millstream_graph::op::OpDef;

formula!(x, y: Num => x.pow(y); y.is_no_exponent() => "an integer cannot be raised to a negative exponent: cast to a float first");

pub(crate) fn def() -> OpDef {
    binary!("Pow", numbers, Formula).doc("`x` to the power of `y`, elementwise, with broadcasting. Integers wrap around and refuse a negative exponent.")
}

cases! {
    integers: "Pow([2 3 -2 0], [10 4 3 0]) = [1024 81 -8 1]",
    floats: "Pow([4.0 2.0], [0.5 -1.0]) ~ [2.0 0.5]",
    complex: "Pow(c64 [1+2i], c64 2) ~ c64 [-3+4i]",
    wraps_around: "Pow(3, 40) = 689956897",
    refuses_negative_exponents: "Pow([2], [-1]) ! negative exponent",
    broadcasts_shapes: "Pow(i32[?,3], i32[2,1]) : i32[2,3]",
    wants_shapes_that_fit: "Pow(i32[2], i32[3]) ! do not broadcast",
}
