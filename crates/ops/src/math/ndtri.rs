//! `Ndtri`: the quantile function of the normal distribution.

use millstream_graph::op::OpDef;

formula!(x: Float => x.ndtri());

pub(crate) fn def() -> OpDef {
    unary!("Ndtri", floats, Formula).doc("The number below which a normal variable lies with probability `x`; NaN outside of 0..1.")
}

cases! {
    values: "Ndtri([0.5 0.1 0.9 0.0 1.0]) ~ [0.0 -1.2815515655446004 1.2815515655446004 -inf inf]",
    tails: "Ndtri(f64 [1e-300 0.3]) ~ f64 [-37.04709629936185 -0.5244005127080407]",
    outside: "Ndtri([-0.1 1.5]) = [nan nan]",
    keeps_the_shape: "Ndtri(f32[?,3]) : f32[?,3]",
    refuses_integers: "Ndtri(1) ! `T`",
}
