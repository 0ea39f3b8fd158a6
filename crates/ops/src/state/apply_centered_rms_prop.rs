//! `ApplyCenteredRMSProp` and its variants: RMSProp with a variance, for all rows or for some.

use super::optimizer::{Spec, Step, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 4] {
    let dense = Spec {
        doc: "Updates `ms` and `mg`, the moving averages of `grad^2` and `grad` with decay `rho`, and \
             `mom = momentum * mom + lr * grad / sqrt(ms - mg^2 + epsilon)`, and subtracts `mom` from the \
             variable. The sparse ops do this for the rows in `indices`.",
        variables: &["var", "mg", "ms", "mom"],
        values: &["lr", "rho", "momentum", "epsilon", "grad"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    let sparse = dense.values(&["lr", "rho", "momentum", "epsilon", "grad", "indices"]);
    [
        dense.resource("ResourceApplyCenteredRMSProp"),
        dense.reference("ApplyCenteredRMSProp"),
        sparse.resource("ResourceSparseApplyCenteredRMSProp"),
        sparse.reference("SparseApplyCenteredRMSProp"),
    ]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 4)?;
    let [lr, rho, momentum] = [step.number::<T>("lr")?, step.number("rho")?, step.number("momentum")?];
    let epsilon = step.number::<T>("epsilon")?;
    let ms = step.sweep(2, [step.grad], |ms: T, [grad]| ms + (grad * grad - ms) * (T::one() - rho))?;
    let mg = step.sweep(1, [step.grad], |mg: T, [grad]| mg + (grad - mg) * (T::one() - rho))?;
    let mom = step.sweep(3, [step.grad, &ms, &mg], |mom: T, [grad, ms, mg]| {
        mom * momentum + (grad * lr) / ((ms - mg * mg) + epsilon).sqrt()
    })?;
    step.sweep(0, [&mom], |var: T, [mom]| var - mom).map(drop)
}

cases! {
    steps: "ResourceApplyCenteredRMSProp(@f32[1] [1], @f32[1] [0], @f32[1] [4], @f32[1] [1], f32 0.5, f32 0.5, f32 0.5, f32 1, f32[1] [2]) ~ f32[1] [0], f32[1] [1], f32[1] [4], f32[1] [1]",
    gives_the_reference: "ApplyCenteredRMSProp(&f32 1, &f32 0, &f32 4, &f32 1, f32 0.5, f32 0.5, f32 0.5, f32 1, f32 2) ~ f32 0",
    rows: "ResourceSparseApplyCenteredRMSProp(@f32[2] [5 1], @f32[2] [0 0], @f32[2] [4 4], @f32[2] [1 1], f32 0.5, f32 0.5, f32 0.5, f32 1, f32[1] [2], [1]) ~ f32[2] [5 0], f32[2] [0 1], f32[2] [4 4], f32[2] [1 1]",
    learns_the_shape: "ApplyCenteredRMSProp(&f32[?], &f32[?], &f32[2], &f32[?], f32[], f32[], f32[], f32[], f32[?]) : f32[2]",
    slots_agree: "ApplyCenteredRMSProp(&f32[3], &f32[?], &f32[2], &f32[?], f32[], f32[], f32[], f32[], f32[?]) ! the variable has shape [3] but `ms` has shape [2]",
}
