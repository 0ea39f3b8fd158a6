//! `LeakyReluGrad`: the gradient of `LeakyRelu`.

use super::activation::{alpha, gradient, zip};
use crate::number::{Float, Number, with_float};
use millstream_graph::op::spec::{self, Spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::Result;


pub(crate) fn def() -> OpDef {
    gradient("LeakyReluGrad", "features", run)
        .doc("`gradients` where `features` is positive, `alpha * gradients` elsewhere.")
        .attr("alpha", spec::Float.or(0.2f32))
        .attr("T", spec::FloatType.or(millstream_tensor::DType::F32))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_float!("LeakyReluGrad", cx.input(0).dtype(), T => {
        let alpha = alpha::<T>(cx)?;
        zip::<T>(cx, |g, x| if T::ZERO < x { g } else { T::of_work(alpha * g.work()) })
    })?;
    cx.set(0, out);
    Ok(())
}

cases! {
    scales: "LeakyReluGrad([2.0 2.0 2.0], [-1.0 0.0 3.0]; alpha=0.5) = [1.0 1.0 2.0]",
    shape: "LeakyReluGrad(f32[?,3], f32[2,?]) : f32[2,3]",
    equal_shapes: "LeakyReluGrad([1.0], [1.0 2.0]) ! they must be equal",
}
