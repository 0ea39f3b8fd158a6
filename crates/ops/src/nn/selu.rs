//! `Selu`: the scaled exponential linear unit.

use super::activation::{SELU, activation, constant, map};
use crate::number::{FloatElement, Number, no_kernel};
use millstream_graph::op::{GradCx, Gradient, spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Result, with_element};

pub(crate) fn def() -> OpDef {
    activation("Selu", run)
        .doc(
            "Computes `scale * features` where they are positive and `scale * alpha * (exp(features) - 1)` \
             elsewhere. The constants preserve mean 0 and variance 1 from layer to layer.",
        )
        .attr("T", spec::FloatType)
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = with_element!(cx.input(0).dtype(), T in floats => {
        let (scale, negative) = (constant::<<T as FloatElement>::Work>(SELU.0), constant::<<T as FloatElement>::Work>(SELU.1));
        map::<T>(cx, |x| T::of_work(if x < T::ZERO { negative * x.work().exp_m1() } else { scale * x.work() }))
    }, else => Err(no_kernel("Selu", cx.input(0).dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    cx.give(0, cx.call("SeluGrad", [dy, y]));
    Ok(())
}

cases! {
    bends: "Selu([-inf -3.0 0.0 7.0 inf nan]) ~ [-1.7580993 -1.6705687 0.0 7.354907 inf nan]",
    shape: "Selu(f32[?,3]) : f32[?,3]",
    no_integers: "Selu([1]) ! does not work on i32",
}
