//! `Polygamma`: derivatives of the digamma function.

use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::{Result, dtypes};

formula!(a, x: Float => a.polygamma(x));

pub(crate) fn def() -> OpDef {
    OpDef::new("Polygamma")
        .doc(
            "Computes the derivative of order `a` of `Digamma` at `x`, elementwise, with broadcasting. The \
             result is NaN unless `a` is a non-negative integer.",
        )
        .input("a", "T")
        .input("x", "T")
        .output("z", "T")
        .attr("T", OneOf(dtypes!(singles)))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, singles, Formula))
        .gradient(Gradient::of(grad))
}

// The order is a count and has no gradient.
fn grad(cx: &mut GradCx) -> Result<()> {
    if cx.wants(1) {
        let (dz, a, x) = (cx.grad(0), cx.input(0), cx.input(1));
        cx.give_summed(1, dz * cx.call("Polygamma", [a + 1.0, x]));
    }
    Ok(())
}

cases! {
    values: "Polygamma(f64 [0.0 1.0 2.0 3.0 2.0], f64 [2.0 2.0 2.0 0.5 -1.5]) ~ f64 [0.42278433509846713 0.6449340668482264 -0.4041138063191886 97.40909103400244 -0.23620405164]",
    edges: "Polygamma([-1.0 1.5 1.0], [2.0 2.0 0.0]) = [nan nan inf]",
    broadcasts_shapes: "Polygamma(f32[?,3], f32[2,1]) : f32[2,3]",
    refuses_integers: "Polygamma(1, 2) ! `T`",
}
