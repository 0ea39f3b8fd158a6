//! `LeakyRelu`: the rectified linear unit with a small slope for negative numbers.

use super::activation::{activation, alpha, map};
use crate::number::{FloatElement, Number, no_kernel};
use millstream_graph::Attr;
use millstream_graph::op::spec::{self, Spec};
use millstream_graph::op::{GradCx, Gradient, KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    activation("LeakyRelu", run)
        .doc("Computes `features` where they are positive and `alpha * features` elsewhere.")
        .attr("alpha", spec::Float.or(0.2f32))
        .attr("T", spec::FloatType.or(millstream_tensor::DType::F32))
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => {
        let alpha = alpha::<T>(cx)?;
        map::<T>(cx, |x| if T::ZERO < x { x } else { T::of_work(alpha * x.work()) })
    }, else => Err(no_kernel("LeakyRelu", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    let alpha = cx.attrs().float("alpha")?;
    cx.give(0, cx.op("LeakyReluGrad").input(dy).input(x).attr("alpha", Attr::Float(alpha)).output());
    Ok(())
}

cases! {
    scales: "LeakyRelu([-1.0 0.0 2.0 nan]; alpha=0.5) = [-0.5 0.0 2.0 nan]",
    by_a_fifth: "LeakyRelu([-1.0]) = [-0.2]",
    shape: "LeakyRelu(f32[?,3]) : f32[?,3]",
    no_integers: "LeakyRelu([1]) ! does not work on i32",
}
