//! `Conj`: the complex conjugate.

use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::DType::{C64, C128};
use millstream_tensor::Result;

formula!(x: Num => x.conj());

pub(crate) fn def() -> OpDef {
    OpDef::new("Conj")
        .doc("Computes the complex conjugate of each element.")
        .input("input", "T")
        .output("output", "T")
        .attr("T", OneOf(&[C64, C128]).or(C64))
        .infer(|cx| cx.same_as_input())
        .kernel(kernel!(unary, complexes, Formula))
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    cx.give(0, cx.call("Conj", [dy]));
    Ok(())
}

cases! {
    negates: "Conj(c64 [3+4i -1-2i]) = c64 [3-4i -1+2i]",
    keeps_the_shape: "Conj(c128[?,3]) : c128[?,3]",
    refuses_reals: "Conj(1.0) ! `T`",
}
