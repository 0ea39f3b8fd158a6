//! `Zeta`: the Hurwitz zeta function.

use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::{Result, dtypes};

formula!(x, q: Float => x.zeta(q));

pub(crate) fn def() -> OpDef {
    OpDef::new("Zeta")
        .doc(
            "Computes the Hurwitz zeta function, elementwise, with broadcasting: the sum of `(q + k)^-x` \
             over all integers `k` from 0. A gradient flows to `q` alone, as in TensorFlow.",
        )
        .input("x", "T")
        .input("q", "T")
        .output("z", "T")
        .attr("T", OneOf(dtypes!(singles)))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, singles, Formula))
        .gradient(Gradient::of(grad))
}

// dζ(x, q) = -x ζ(x + 1, q) dq + .. As in TensorFlow, no gradient flows to `x`.
fn grad(cx: &mut GradCx) -> Result<()> {
    if !cx.wants(1) {
        return Ok(());
    }
    let (dz, x, q) = (cx.grad(0), cx.input(0), cx.input(1));
    cx.give_summed(1, -(dz * (x * cx.call("Zeta", [x + 1.0, q]))));
    Ok(())
}

cases! {
    values: "Zeta(f64 [2.0 3.0 2.0 30.0], f64 [1.0 -1.5 -1.5 2.0]) ~ f64 [1.6449340668482264 0.11810202616 9.37924664498912 9.31327432e-10]",
    edges: "Zeta([1.0 0.5 2.0 3.0 2.5], [2.0 2.0 0.0 -1.0 -0.5]) = [inf nan inf inf nan]",
    broadcasts_shapes: "Zeta(f32[?,3], f32[2,1]) : f32[2,3]",
    refuses_integers: "Zeta(1, 2) ! `T`",
}
