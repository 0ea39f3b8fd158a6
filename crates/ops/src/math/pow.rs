//! `Pow`: the power.

use crate::shared::elementwise::Failure;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(x, y: Num => x.pow(y); y.is_no_exponent() => Failure::POWER);

pub(crate) fn def() -> OpDef {
    binary!("Pow", numbers, Formula).doc(
        "Computes `x` to the power of `y`, elementwise, with broadcasting. Integers wrap around; a negative \
         integer exponent is an error.",
    )
        .gradient(Gradient::of(grad))
}

// d xʸ = y xʸ⁻¹ dx + xʸ log(x) dy. Where the logarithm is undefined (x not positive, or a complex 0), it is
// taken as 0.
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
        // Elsewhere the logarithm of one is taken, so that its own gradient is not NaN.
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
