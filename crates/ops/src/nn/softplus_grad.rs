//! `SoftplusGrad`: the gradient of `Softplus`.

use super::activation::{gradient, zip};
use crate::number::{Float, Number, with_float};
use millstream_graph::op::spec;
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    gradient("SoftplusGrad", "features", run)
        .doc("`gradients / (exp(-features) + 1)`.")
        .attr("T", spec::FloatType)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_float!("SoftplusGrad", cx.input(0).dtype(), T => zip::<T>(cx, |g, x| T::of_work(g.work() / ((-x.work()).exp() + <<T as Float>::Work as Number>::ONE))))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    bends: "SoftplusGrad([2.0 2.0 2.0 2.0], [-inf -3.0 0.0 7.0]) ~ [0.0 0.09485175 1.0 1.998178]",
    shape: "SoftplusGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    equal_shapes: "SoftplusGrad([1.0], [1.0 2.0]) ! they must be equal",
}
