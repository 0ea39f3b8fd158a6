//! `Pow`: x to the power of y.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x, y: Num => x.pow(y); y.is_no_exponent() => "an integer cannot be raised to a negative exponent: cast to a float first");

pub(crate) fn def() -> OpDef {
    binary!("Pow", numbers, Formula).doc("`x` to the power of `y`, elementwise, with broadcasting. Integers wrap around and refuse a negative exponent.")
        .gradient(Gradient::of(grad))
}

// d xʸ = y xʸ⁻¹ dx + xʸ log(x) dy; the logarithm counts as 0 where there is none (x not positive, or 0 of complex numbers).
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, x, y) = (cx.grad(0), cx.input(0), cx.input(1));
    if cx.wants(0) {
        let (x, y) = (cx.conj(x), cx.conj(y));
        cx.give_summed(0, dz * y * cx.call("Pow", [x, y - 1.0]));
    }
    if cx.wants(1) {
        let z = cx.output(0);
        let (x, z, zero) = (cx.conj(x), cx.conj(z), cx.scalar(cx.dtype(0), 0.0));
        let has = if cx.dtype(0).is_complex() { "NotEqual" } else { "Greater" };
        let has = cx.call(has, [x, zero]);
        // The logarithm is taken of ones elsewhere, lest its own gradient there be no number.
        let log = cx.call("Log", [cx.call("SelectV2", [has, x, cx.scalar(cx.dtype(0), 1.0)])]);
        cx.give_summed(1, dz * z * log);
    }
    Ok(())
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
