//! `Igamma`: the regularized lower incomplete gamma function.

use crate::shared::gradient::at_least_single;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::{Result, dtypes};

formula!(a, x: Float => a.igamma(x));

pub(crate) fn def() -> OpDef {
    OpDef::new("Igamma")
        .doc(
            "Computes the regularized lower incomplete gamma function, elementwise, with broadcasting: the \
             cumulative distribution function at `x` of the gamma distribution of shape `a`. The result is \
             NaN unless `a` is positive and `x` is not negative, except that `Igamma(0, 0)` is 0.",
        )
        .input("a", "T")
        .input("x", "T")
        .output("z", "T")
        .attr("T", OneOf(dtypes!(floats)))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, floats, Formula))
        .gradient(Gradient::of(grad))
}

// The derivative by x is the density of the gamma distribution.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, a, x) = (cx.grad(0), cx.input(0), cx.input(1));
    if cx.wants(0) {
        cx.give_summed(0, dz * at_least_single(cx, "IgammaGradA", [a, x]));
    }
    if cx.wants(1) {
        let density = cx.call("Exp", [(a - 1.0) * cx.call("Log", [x]) - x - cx.call("Lgamma", [a])]);
        cx.give_summed(1, dz * density);
    }
    Ok(())
}

cases! {
    values: "Igamma([1.0 2.0 0.5 20.0], [1.0 3.0 1e-20 2.0]) ~ [0.6321205588285577 0.8008517265285442 1.1283791670955126e-10 6.443731391709797e-14]",
    large: "Igamma(f64 1e6, f64 [1e6 1.003e6]) ~ f64 [0.5001329807608725 0.9986382590361285]",
    edges: "Igamma([1.0 1.0 inf -1.0 0.0], [0.0 inf 2.0 1.0 1.0]) = [0.0 1.0 0.0 nan nan]",
    broadcasts_shapes: "Igamma(f32[?,3], f32[2,1]) : f32[2,3]",
    refuses_integers: "Igamma(1, 2) ! `T`",
}
