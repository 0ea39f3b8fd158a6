//! `ApplyRMSProp` and its variants: RMSProp, for all rows or for some.

use super::optimizer::{Spec, Step, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 4] {
    let dense = Spec {
        doc: "Updates `ms`, the moving average of `grad^2` with decay `rho`, and \
             `mom = momentum * mom + lr * grad / sqrt(ms + epsilon)`, and subtracts `mom` from the \
             variable. The sparse ops do this for the rows in `indices`.",
        variables: &["var", "ms", "mom"],
        values: &["lr", "rho", "momentum", "epsilon", "grad"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    let sparse = dense.values(&["lr", "rho", "momentum", "epsilon", "grad", "indices"]);
    [
        dense.resource("ResourceApplyRMSProp"),
        dense.reference("ApplyRMSProp"),
        sparse.resource("ResourceSparseApplyRMSProp"),
        sparse.reference("SparseApplyRMSProp"),
    ]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 3)?;
    let [lr, rho, momentum] = [step.number::<T>("lr")?, step.number("rho")?, step.number("momentum")?];
    let epsilon = step.number::<T>("epsilon")?;
    let ms = step.sweep(1, [step.grad], |ms: T, [grad]| ms + (grad * grad - ms) * (T::one() - rho))?;
    let mom = step.sweep(2, [step.grad, &ms], |mom: T, [grad, ms]| {
        mom * momentum + (grad * lr) / (ms + epsilon).sqrt()
    })?;
    step.sweep(0, [&mom], |var: T, [mom]| var - mom).map(drop)
}

cases! {
    steps: "ResourceApplyRMSProp(@f32[1] [1], @f32[1] [4], @f32[1] [1], f32 0.5, f32 0.5, f32 0.5, f32 0, f32[1] [2]) ~ f32[1] [0], f32[1] [4], f32[1] [1]",
    gives_the_reference: "ApplyRMSProp(&f32 1, &f32 0, &f32 0, f32 0.5, f32 0.75, f32 0.5, f32 0, f32 2) ~ f32 0",
    rows: "ResourceSparseApplyRMSProp(@f32[2] [1 1], @f32[2] [4 4], @f32[2] [1 1], f32 0.5, f32 0.5, f32 0.5, f32 0, f32[1] [2], [1]) ~ f32[2] [1 0], f32[2] [4 4], f32[2] [1 1]",
    learns_the_shape: "ApplyRMSProp(&f32[?], &f32[?], &f32[2], f32[], f32[], f32[], f32[], f32[?]) : f32[2]",
    rho_is_a_scalar: "ApplyRMSProp(&f32[?], &f32[?], &f32[2], f32[], f32[2], f32[], f32[], f32[?]) ! `rho` must be a scalar",
}
