//! `Polygamma`: derivatives of the digamma function.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;

formula!(a, x: Float => a.polygamma(x));

pub(crate) fn def() -> OpDef {
    OpDef::new("Polygamma")
        .doc("The derivative of order `a` of `Digamma` at `x`; NaN unless `a` is a whole number from 0.")
        .input("a", "T")
        .input("x", "T")
        .output("z", "T")
        .attr("T", dtypes!(singles))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, singles, Formula))
        .gradient(Gradient::of(grad))
}

// Of the order, a count, there is none.
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
