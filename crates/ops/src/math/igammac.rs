//! `Igammac`: the regularized upper incomplete gamma function.

use crate::shared::gradient::at_least_single;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::{Result, dtypes};

formula!(a, x: Float => a.igammac(x));

pub(crate) fn def() -> OpDef {
    OpDef::new("Igammac")
        .doc(
            "Computes the regularized upper incomplete gamma function, elementwise, with broadcasting: \
             `1 - Igamma(a, x)`, accurate also where it is small.",
        )
        .input("a", "T")
        .input("x", "T")
        .output("z", "T")
        .attr("T", OneOf(dtypes!(floats)))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, floats, Formula))
        .gradient(Gradient::of(grad))
}

// The derivative by x is the negative density of the gamma distribution.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, a, x) = (cx.grad(0), cx.input(0), cx.input(1));
    if cx.wants(0) {
        cx.give_summed(0, -(dz * at_least_single(cx, "IgammaGradA", [a, x])));
    }
    if cx.wants(1) {
        let density = cx.call("Exp", [(a - 1.0) * cx.call("Log", [x]) - x - cx.call("Lgamma", [a])]);
        cx.give_summed(1, -(dz * density));
    }
    Ok(())
}

cases! {
    values: "Igammac([1.0 2.0 20.0], [1.0 3.0 60.0]) ~ [0.36787944117144233 0.19914827347145578 6.351917836e-10]",
    edges: "Igammac([1.0 1.0 inf -1.0 0.0], [0.0 inf 2.0 1.0 1.0]) = [1.0 0.0 1.0 nan nan]",
    broadcasts_shapes: "Igammac(f32[?,3], f32[2,1]) : f32[2,3]",
    refuses_integers: "Igammac(1, 2) ! `T`",
}
