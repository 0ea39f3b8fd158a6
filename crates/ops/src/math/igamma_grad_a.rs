//! `IgammaGradA`: how the incomplete gamma function changes with its shape.

use millstream_graph::op::{Gradient, OpDef};

formula!(a, x: Float => a.igamma_grad_a(x));

pub(crate) fn def() -> OpDef {
    OpDef::new("IgammaGradA")
        .doc("The derivative of `Igamma(a, x)` by `a`.")
        .input("a", "T")
        .input("x", "T")
        .output("z", "T")
        .attr("T", dtypes!(singles))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, singles, Formula))
        .gradient(Gradient::Missing("second derivatives by `a` are not computed"))
}

cases! {
    values: "IgammaGradA(f64 [2.0 20.0 0.5], f64 [3.0 60.0 1e-20]) ~ f64 [-0.19742542032 -7.28678726e-10 -5.200495473e-9]",
    edges: "IgammaGradA([1.0 -1.0], [0.0 1.0]) = [0.0 nan]",
    broadcasts_shapes: "IgammaGradA(f32[?,3], f32[2,1]) : f32[2,3]",
    refuses_integers: "IgammaGradA(1, 2) ! `T`",
}
