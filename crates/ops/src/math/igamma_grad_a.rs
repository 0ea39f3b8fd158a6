//! `IgammaGradA`: the derivative of the incomplete gamma function by its shape.

use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::{Error, Result, dtypes};

formula!(a, x: Float => a.igamma_grad_a(x));

pub(crate) fn def() -> OpDef {
    OpDef::new("IgammaGradA")
        .doc("Computes the derivative of `Igamma(a, x)` by `a`, elementwise, with broadcasting.")
        .input("a", "T")
        .input("x", "T")
        .output("z", "T")
        .attr("T", OneOf(dtypes!(singles)))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, singles, Formula))
        .gradient(Gradient::of(grad))
}

// The derivative by x is the derivative of the gamma distribution's density by the shape a.
fn grad(cx: &mut GradCx) -> Result<()> {
    if cx.wants(0) {
        return Err(Error::unimplemented("the second derivative with respect to `a` is not implemented")
            .with_help("block it with `stop_gradient`"));
    }
    let (dz, a, x) = (cx.grad(0), cx.input(0), cx.input(1));
    let log = cx.call("Log", [x]);
    let density = cx.call("Exp", [(a - 1.0) * log - x - cx.call("Lgamma", [a])]);
    cx.give_summed(1, dz * density * (log - cx.call("Digamma", [a])));
    Ok(())
}

cases! {
    values: "IgammaGradA(f64 [2.0 20.0 0.5], f64 [3.0 60.0 1e-20]) ~ f64 [-0.19742542032 -7.28678726e-10 -5.200495473e-9]",
    edges: "IgammaGradA([1.0 -1.0], [0.0 1.0]) = [0.0 nan]",
    broadcasts_shapes: "IgammaGradA(f32[?,3], f32[2,1]) : f32[2,3]",
    refuses_integers: "IgammaGradA(1, 2) ! `T`",
}
