//! `Zeta`: the Hurwitz zeta function.

use millstream_graph::op::OpDef;

formula!(x, q: Float => x.zeta(q));

pub(crate) fn def() -> OpDef {
    OpDef::new("Zeta")
        .doc("The Hurwitz zeta function: the sum of `(q + k)^-x` over all whole `k` from 0.")
        .input("x", "T")
        .input("q", "T")
        .output("z", "T")
        .attr("T", dtypes!(singles))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, singles, Formula))
}

cases! {
    values: "Zeta(f64 [2.0 3.0 2.0 30.0], f64 [1.0 -1.5 -1.5 2.0]) ~ f64 [1.6449340668482264 0.11810202616 9.37924664498912 9.31327432e-10]",
    edges: "Zeta([1.0 0.5 2.0 3.0 2.5], [2.0 2.0 0.0 -1.0 -0.5]) = [inf nan inf nan nan]",
    broadcasts_shapes: "Zeta(f32[?,3], f32[2,1]) : f32[2,3]",
    refuses_integers: "Zeta(1, 2) ! `T`",
}
