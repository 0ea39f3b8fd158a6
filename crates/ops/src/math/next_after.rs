//! `NextAfter`: the next number towards another.

use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::Result;
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_tensor::DType::{F32, F64};

formula!(x, y: Float => x.next_after(y));

pub(crate) fn def() -> OpDef {
    OpDef::new("NextAfter")
        .doc("The representable number next to `x1` on the way to `x2`, with broadcasting; `x2` if they are equal.")
        .input("x1", "T")
        .input("x2", "T")
        .output("output", "T")
        .attr("T", OneOf(&[F64, F32]).or(F32))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, singles, Formula))
        .gradient(Gradient::of(grad))
}

// A step beside x, where x goes; which way, y only points.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    cx.give_summed(0, dz);
    Ok(())
}

cases! {
    steps: "NextAfter([0.0 0.0 1.0 1.0], [1.0 -1.0 1.0 2.0]) = [1e-45 -1e-45 1.0 1.0000001]",
    broadcasts_shapes: "NextAfter(f32[?,3], f32[2,1]) : f32[2,3]",
    refuses_integers: "NextAfter(1, 2) ! `T`",
}
