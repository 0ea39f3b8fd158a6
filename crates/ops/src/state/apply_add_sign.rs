//! `ApplyAddSign`, `ResourceApplyAddSign`: gradient descent with larger steps where the gradient agrees in
//! sign with its moving average.

use super::optimizer::{Spec, Step, sign, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 2] {
    let spec = Spec {
        doc: "Updates `m`, the moving average of `grad` with decay `beta`, and subtracts \
             `lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad` from the variable.",
        variables: &["var", "m"],
        values: &["lr", "alpha", "sign_decay", "beta", "grad"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    [spec.resource("ResourceApplyAddSign"), spec.reference("ApplyAddSign")]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 2)?;
    let [lr, weight] = [step.number::<T>("lr")?, step.number("alpha")?];
    let [decay, beta] = [step.number::<T>("sign_decay")?, step.number("beta")?];
    let m = step.sweep(1, [step.grad], |m: T, [grad]| m * beta + grad * (T::one() - beta))?;
    step.sweep(0, [step.grad, &m], |var: T, [grad, m]| {
        var - lr * (weight + decay * sign(grad) * sign(m)) * grad
    })
    .map(drop)
}

cases! {
    as_tensorflow: "ResourceApplyAddSign(@f64[2] [1 -0.5], @f64[2] [0.1 -0.1], f64 0.5, f64 1.5, f64 0.7, f64 0.9, f64[2] [0.3 -0.2]) ~ f64[2] [0.67 -0.28], f64[2] [0.12 -0.11]",
    against_the_mean: "ApplyAddSign(&f32[1] [1], &f32[1] [8], f32 0.5, f32 2, f32 1, f32 0.5, f32[1] [-2]) = f32[1] [2]",
    learns_the_shape: "ApplyAddSign(&f32[?], &f32[2], f32[], f32[], f32[], f32[], f32[?]) : f32[2]",
    rate_is_a_scalar: "ApplyAddSign(&f32[?], &f32[2], f32[1], f32[], f32[], f32[], f32[?]) ! `lr` must be a scalar",
}
