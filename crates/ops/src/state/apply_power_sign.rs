//! `ApplyPowerSign`, `ResourceApplyPowerSign`: gradient descent with steps scaled by a power where the
//! gradient agrees in sign with its moving average.

use super::optimizer::{Spec, Step, sign, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 2] {
    let spec = Spec {
        doc: "Updates `m`, the moving average of `grad` with decay `beta`, and subtracts \
             `lr * exp(logbase * sign_decay * sign(grad) * sign(m)) * grad` from the variable.",
        variables: &["var", "m"],
        values: &["lr", "logbase", "sign_decay", "beta", "grad"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    [spec.resource("ResourceApplyPowerSign"), spec.reference("ApplyPowerSign")]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 2)?;
    let [lr, weight] = [step.number::<T>("lr")?, step.number("logbase")?];
    let [decay, beta] = [step.number::<T>("sign_decay")?, step.number("beta")?];
    let m = step.sweep(1, [step.grad], |m: T, [grad]| m * beta + grad * (T::one() - beta))?;
    step.sweep(0, [step.grad, &m], |var: T, [grad, m]| {
        var - lr * (weight * decay * sign(grad) * sign(m)).exp() * grad
    })
    .map(drop)
}

cases! {
    as_tensorflow: "ResourceApplyPowerSign(@f64[2] [1 -0.5], @f64[2] [0.1 -0.1], f64 0.5, f64 1.5, f64 0.7, f64 0.9, f64[2] [0.3 -0.2]) ~ f64[2] [0.5713523322905255 -0.21423488819368364], f64[2] [0.12 -0.11]",
    no_power: "ApplyPowerSign(&f32[1] [1], &f32[1] [8], f32 0.5, f32 0, f32 1, f32 0.5, f32[1] [-2]) = f32[1] [2]",
    learns_the_shape: "ApplyPowerSign(&f32[?], &f32[2], f32[], f32[], f32[], f32[], f32[?]) : f32[2]",
    rate_is_a_scalar: "ApplyPowerSign(&f32[?], &f32[2], f32[1], f32[], f32[], f32[], f32[?]) ! `lr` must be a scalar",
}
