//! `RandomGammaGrad`: how samples of gamma distributions move with their shapes.

use millstream_graph::op::{Gradient, OpDef};

formula!(alpha, sample: Float => alpha.random_gamma_grad(sample));

pub(crate) fn def() -> OpDef {
    OpDef::new("RandomGammaGrad")
        .doc("The derivative by `alpha` of a `sample` that RandomGamma drew: how far it moves if its share of the distribution stays the same.")
        .input("alpha", "T")
        .input("sample", "T")
        .output("output", "T")
        .attr("T", dtypes!(singles))
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
