//! `Atan2`: the arc tangent of a quotient, in the right quadrant.

use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::{Result, dtypes};

formula!(y, x: Float => y.atan2(x));

pub(crate) fn def() -> OpDef {
    OpDef::new("Atan2")
        .doc(
            "Computes the arc tangent of `y / x`, elementwise, with broadcasting. The result is the angle \
             of the point `(x, y)`, in -pi..=pi.",
        )
        .input("y", "T")
        .input("x", "T")
        .output("z", "T")
        .attr("T", OneOf(dtypes!(floats)))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, floats, Formula))
        .gradient(Gradient::of(grad))
}

// d atan2(y, x) = (x dy - y dx) / (x² + y²)
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, y, x) = (cx.grad(0), cx.input(0), cx.input(1));
    let dz = dz / (cx.call("Square", [x]) + cx.call("Square", [y]));
    if cx.wants(0) {
        cx.give_summed(0, x * dz);
    }
    if cx.wants(1) {
        cx.give_summed(1, -y * dz);
    }
    Ok(())
}

cases! {
    angles: "Atan2([0.0 1.0 0.0], [1.0 0.0 -1.0]) ~ [0.0 1.5707964 3.1415927]",
    broadcasts_shapes: "Atan2(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_shapes_that_fit: "Atan2(f32[2], f32[3]) ! do not broadcast",
}
