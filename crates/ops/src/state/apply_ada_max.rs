//! `ApplyAdaMax`, `ResourceApplyAdaMax`: Adam with the infinity norm of past gradients.

use super::optimizer::{Spec, Step, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 2] {
    let spec = Spec {
        doc: "Updates `m`, the moving average of `grad` with decay `beta1`, and \
             `v = max(beta2 * v, |grad|)`, and subtracts `lr / (1 - beta1_power) * m / (v + epsilon)` from \
             the variable.",
        variables: &["var", "m", "v"],
        values: &["beta1_power", "lr", "beta1", "beta2", "epsilon", "grad"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    [spec.resource("ResourceApplyAdaMax"), spec.reference("ApplyAdaMax")]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 3)?;
    let [lr, beta1, beta2] = [step.number::<T>("lr")?, step.number("beta1")?, step.number("beta2")?];
    let [power, epsilon] = [step.number::<T>("beta1_power")?, step.number("epsilon")?];
    let m = step.sweep(1, [step.grad], |m: T, [grad]| m + (grad - m) * (T::one() - beta1))?;
    let v = step.sweep(2, [step.grad], |v: T, [grad]| (beta2 * v).max(grad.abs()))?;
    let rate = lr / (T::one() - power);
    step.sweep(0, [&m, &v], |var: T, [m, v]| var - rate * (m / (v + epsilon))).map(drop)
}

cases! {
    as_tensorflow: "ResourceApplyAdaMax(@f64[2] [1 -0.5], @f64[2] [0.1 -0.1], @f64[2] [0.2 0.1], f64 0.81, f64 0.5, f64 0.9, f64 0.95, f64 0.01, f64[2] [0.3 -0.2]) ~ f64[2] [-0.018675721561969727 0.8784461152882206], f64[2] [0.12 -0.11], f64[2] [0.3 0.2]",
    gives_the_reference: "ApplyAdaMax(&f32 1, &f32 0, &f32 4, f32 0.5, f32 0.5, f32 0.5, f32 0.5, f32 0, f32 2) ~ f32 0.5",
    learns_the_shape: "ApplyAdaMax(&f32[?], &f32[?], &f32[2], f32[], f32[], f32[], f32[], f32[], f32[?]) : f32[2]",
    shapes_agree: "ApplyAdaMax(&f32[3], &f32[?], &f32[?], f32[], f32[], f32[], f32[], f32[], f32[2]) ! the variable has shape [3] but `grad` has shape [2]",
}
