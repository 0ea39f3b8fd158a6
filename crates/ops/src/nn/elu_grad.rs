//! `EluGrad`: the gradient of `Elu`, from its outputs.

use super::activation::{gradient, zip};
use crate::number::{Float, Number, with_float};
use millstream_graph::op::spec;
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;


pub(crate) fn def() -> OpDef {
    gradient("EluGrad", "outputs", run)
        .doc("`gradients` where `outputs` is positive, `gradients * (outputs + 1)` elsewhere.")
        .attr("T", spec::FloatType)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_float!("EluGrad", cx.input(0).dtype(), T => zip::<T>(cx, |g, y| if y < T::ZERO { T::of_work((y.work() + <<T as Float>::Work as Number>::ONE) * g.work()) } else { g }))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    bends: "EluGrad([2.0 2.0 2.0], [-0.5 0.0 3.0]) = [1.0 2.0 2.0]",
    shape: "EluGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    equal_shapes: "EluGrad([1.0], [1.0 2.0]) ! they must be equal",
}
