//! `RandomGammaGrad`: the derivatives of gamma samples by their shape parameters.

use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Gradient, OpDef};
use millstream_tensor::dtypes;

formula!(alpha, sample: Float => alpha.random_gamma_grad(sample));

pub(crate) fn def() -> OpDef {
    OpDef::new("RandomGammaGrad")
        .doc(
            "Computes the derivative by `alpha` of a `sample` that RandomGamma drew, at a constant \
             quantile.",
        )
        .input("alpha", "T")
        .input("sample", "T")
        .output("output", "T")
        .attr("T", OneOf(dtypes!(singles)))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, singles, Formula))
        .gradient(Gradient::Missing("second derivatives of samples are not computed"))
}

cases! {
    values: "RandomGammaGrad([0.3 1.0 2.5 50.0 1e6 0.01], [0.05 2.0 1.7 61.0 1.001e6 1e-20]) \
             ~ [0.49471098 1.6316917 0.87504452 1.1063969 1.0005000002 4.5490814e-17]",
    values_in_f64: "RandomGammaGrad(f64 [0.3 1.0 2.5 50.0], f64 [0.05 2.0 1.7 61.0]) \
                    ~ f64 [0.49471098700413119 1.6316914623496996 0.87504438142040419 1.1063972564782514]",
    tiny: "Log(RandomGammaGrad(f64 0.001, f64 1e-300)) ~ f64 -677.330791272366",
    edges: "RandomGammaGrad([1.0 -1.0 1.0], [0.0 1.0 -1.0]) = [0.0 nan nan]",
    broadcasts_shapes: "RandomGammaGrad(f32[3], f32[2,1]) : f32[2,3]",
    refuses_integers: "RandomGammaGrad(1, 2) ! `T`",
}
