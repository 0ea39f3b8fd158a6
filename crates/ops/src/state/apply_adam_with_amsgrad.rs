//! `ResourceApplyAdamWithAmsgrad`: Adam whose second moment never decreases.

use super::optimizer::{Spec, Step, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> OpDef {
    let spec = Spec {
        doc: "Updates `m` and `v`, the moving averages of `grad` and `grad^2` with decays `beta1` and \
             `beta2`, and `vhat`, the maximum of all `v` so far, and subtracts `lr * sqrt(1 - beta2_power) \
             / (1 - beta1_power) * m / (sqrt(vhat) + epsilon)` from the variable.",
        variables: &["var", "m", "v", "vhat"],
        values: &["beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon", "grad"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    spec.resource("ResourceApplyAdamWithAmsgrad")
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 4)?;
    let one = T::one();
    let [lr, beta1, beta2] = [step.number::<T>("lr")?, step.number("beta1")?, step.number("beta2")?];
    let [power1, power2] = [step.number::<T>("beta1_power")?, step.number("beta2_power")?];
    let epsilon = step.number::<T>("epsilon")?;
    let alpha = lr * (one - power2).sqrt() / (one - power1);
    let m = step.sweep(1, [step.grad], |m: T, [grad]| m + (grad - m) * (one - beta1))?;
    let v = step.sweep(2, [step.grad], |v: T, [grad]| v + (grad * grad - v) * (one - beta2))?;
    let most = step.sweep(3, [&v], |most: T, [v]| most.max(v))?;
    step.sweep(0, [&m, &most], |var: T, [m, most]| var - (m * alpha) / (most.sqrt() + epsilon)).map(drop)
}

cases! {
    steps: "ResourceApplyAdamWithAmsgrad(@f32[1] [1], @f32[1] [0], @f32[1] [4], @f32[1] [16], f32 0.5, f32 0.75, f32 0.5, f32 0.5, f32 0.5, f32 0, f32[1] [2]) ~ f32[1] [0.875], f32[1] [1], f32[1] [4], f32[1] [16]",
    gives_nothing: "ResourceApplyAdamWithAmsgrad(@f32[1], @f32[1], @f32[1], @f32[1], f32[], f32[], f32[], f32[], f32[], f32[], f32[1]) :",
    shapes_agree: "ResourceApplyAdamWithAmsgrad(@f32[2], @f32[2], @f32[2], @f32[2], f32[], f32[], f32[], f32[], f32[], f32[], f32[3]) ! the variable has shape [2] but `grad` has shape [3]",
}
