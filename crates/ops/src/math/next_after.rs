//! `NextAfter`: the next representable number in a direction.

use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{GradCx, Gradient, OpDef};
use millstream_tensor::DType::{F32, F64};
use millstream_tensor::Result;

formula!(x, y: Float => x.next_after(y));

pub(crate) fn def() -> OpDef {
    OpDef::new("NextAfter")
        .doc(
            "Returns the representable number that follows `x1` in the direction of `x2`, elementwise, with \
             broadcasting. If both are equal, returns `x2`.",
        )
        .input("x1", "T")
        .input("x2", "T")
        .output("output", "T")
        .attr("T", OneOf(&[F64, F32]).or(F32))
        .infer(|cx| cx.broadcast())
        .kernel(kernel!(binary, singles, Formula))
        .gradient(Gradient::of(grad))
}

// The result moves with x1; x2 is only a direction.
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
