//! `Relu6Grad`: the gradient of `Relu6`.

use super::activation::{gradient, zip};
use crate::number::{Number, with_real};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;


pub(crate) fn def() -> OpDef {
    gradient("Relu6Grad", "features", run)
        .doc("`gradients` where `features` is between 0 and 6, 0 elsewhere.")
        .attr("T", spec::RealNumber)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_real!("Relu6Grad", cx.input(0).dtype(), T => zip::<T>(cx, |g, x| g.times(if T::ZERO < x && x < T::count(6) { T::ONE } else { T::ZERO })))?;
    cx.set(0, out);
    Ok(())
}

// Linear in the gradients; the features only choose.
fn grad(cx: &mut GradCx) -> Result<()> {
    if cx.wants(0) {
        let (dz, x) = (cx.grad(0), cx.input(1));
        cx.give(0, cx.call("Relu6Grad", [dz, x]));
    }
    Ok(())
}

cases! {
    masks: "Relu6Grad([2.0 2.0 2.0 2.0], [-1.0 3.0 6.0 nan]) = [0.0 2.0 0.0 0.0]",
    shape: "Relu6Grad(f32[?,3], f32[2,?]) : f32[2,3]",
    equal_shapes: "Relu6Grad([1.0], [1.0 2.0]) ! they must be equal",
}
