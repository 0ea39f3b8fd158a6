//! `ResourceApplyAdam`, `ApplyAdam`: Adam.

use super::optimizer::{Spec, Step, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 2] {
    let spec = Spec {
        doc: "Updates `m` and `v`, the moving averages of `grad` and `grad^2` with decays `beta1` and \
             `beta2`, and subtracts `lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(v) + \
             epsilon)` from the variable. If `use_nesterov` is true, `m * beta1 + (1 - beta1) * \
             grad` replaces `m` in this formula.",
        variables: &["var", "m", "v"],
        values: &["beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"],
        flags: &[("use_nesterov", false)],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    [spec.resource("ResourceApplyAdam"), spec.reference("ApplyAdam")]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 3)?;
    let one = T::one();
    let [lr, beta1, beta2] = [step.number::<T>("lr")?, step.number("beta1")?, step.number("beta2")?];
    let [power1, power2] = [step.number::<T>("beta1_power")?, step.number("beta2_power")?];
    let epsilon = step.number::<T>("epsilon")?;
    let alpha = lr * (one - power2).sqrt() / (one - power1);
    let m = step.sweep(1, [step.grad], |m: T, [grad]| m + (grad - m) * (one - beta1))?;
    let v = step.sweep(2, [step.grad], |v: T, [grad]| v + (grad * grad - v) * (one - beta2))?;
    match step.flag("use_nesterov")? {
        true => step.sweep(0, [step.grad, &m, &v], |var: T, [grad, m, v]| {
            var - ((grad * (one - beta1) + beta1 * m) * alpha) / (v.sqrt() + epsilon)
        }),
        false => step.sweep(0, [&m, &v], |var: T, [m, v]| var - (m * alpha) / (v.sqrt() + epsilon)),
    }
    .map(drop)
}

cases! {
    steps: "ResourceApplyAdam(@f32[1] [1], @f32[1] [0], @f32[1] [4], f32 0.5, f32 0.75, f32 0.5, f32 0.5, f32 0.5, f32 0, f32[1] [2]) ~ f32[1] [0.75], f32[1] [1], f32[1] [4]",
    nesterov: "ApplyAdam(&f32[1] [1], &f32[1] [0], &f32[1] [4], f32 0.5, f32 0.75, f32 0.5, f32 0.5, f32 0.5, f32 0, f32[1] [2]; use_nesterov=true) ~ f32[1] [0.625]",
    doubles: "ResourceApplyAdam(@f64[1] [1], @f64[1] [0], @f64[1] [4], f64 0.5, f64 0.75, f64 0.5, f64 0.5, f64 0.5, f64 0, f64[1] [2]) ~ f64[1] [0.75], f64[1] [1], f64[1] [4]",
    learns_the_shape: "ApplyAdam(&f32[?], &f32[?], &f32[2], f32[], f32[], f32[], f32[], f32[], f32[], f32[?]) : f32[2]",
    shapes_agree: "ApplyAdam(&f32[3], &f32[?], &f32[?], f32[], f32[], f32[], f32[], f32[], f32[], f32[2]) ! the variable has shape [3] but `grad` has shape [2]",
}
