//! `Log1p`: the logarithm of one more.

use millstream_graph::op::OpDef;

formula!(x: Field => x.log1p());

pub(crate) fn def() -> OpDef {
    unary!("Log1p", fields, Formula).doc("`log(1 + x)`, exact near zero.")
}

cases! {
    values: "Log1p([0.0 1e-05 3.0]) ~ [0.0 9.999950000333332e-06 1.3862943611198906]",
    values_in_f64: "Log1p(f64 [0.0 1e-05 3.0]) ~ f64 [0.0 9.999950000333332e-06 1.3862943611198906]",
    keeps_the_shape: "Log1p(f32[?,3]) : f32[?,3]",
    refuses_integers: "Log1p(1) ! `T`",
}
