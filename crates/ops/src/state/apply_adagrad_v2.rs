//! `ApplyAdagradV2` and its variants: Adagrad with an epsilon, for all rows or for some.

use super::optimizer::{Spec, Step, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 4] {
    let dense = Spec {
        doc: "Adds `grad^2` to `accum` (unless `update_slots` is false) and subtracts \
             `lr * grad / (sqrt(accum) + epsilon)` from the variable. The sparse ops do this for the rows \
             in `indices`.",
        variables: &["var", "accum"],
        values: &["lr", "epsilon", "grad"],
        flags: &[("update_slots", true)],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    let sparse = dense.values(&["lr", "epsilon", "grad", "indices"]);
    [
        dense.resource("ResourceApplyAdagradV2"),
        dense.reference("ApplyAdagradV2"),
        sparse.resource("ResourceSparseApplyAdagradV2"),
        sparse.reference("SparseApplyAdagradV2"),
    ]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 2)?;
    let [lr, epsilon] = [step.number::<T>("lr")?, step.number("epsilon")?];
    let accum = match step.flag("update_slots")? {
        true => step.sweep(1, [step.grad], |accum: T, [grad]| accum + grad * grad)?,
        false => step.sweep(1, [], |accum: T, []| accum)?,
    };
    step.sweep(0, [step.grad, &accum], |var: T, [grad, accum]| var - grad * lr / (accum.sqrt() + epsilon))
        .map(drop)
}

cases! {
    as_tensorflow: "ResourceApplyAdagradV2(@f64[2] [1 -0.5], @f64[2] [0.1 0.2], f64 0.5, f64 0.01, f64[2] [0.3 -0.2]) ~ f64[2] [0.6635940802890463 -0.29995917108935577], f64[2] [0.19 0.24]",
    slots_stay: "ApplyAdagradV2(&f32[1] [1], &f32[1] [9], f32 0.5, f32 1, f32[1] [4]; update_slots=false) ~ f32[1] [0.5]",
    rows: "ResourceSparseApplyAdagradV2(@f32[2] [1 2], @f32[2] [0 5], f32 0.5, f32 1, f32[1] [2], [1]) ~ f32[2] [1 1.75], f32[2] [0 9]",
    learns_the_shape: "SparseApplyAdagradV2(&f32[?,3], &f32[2,?], f32[], f32[], f32[..], i64[4]) : f32[2,3]",
    shapes_agree: "ApplyAdagradV2(&f32[3], &f32[2], f32[], f32[], f32[3]) ! the variable has shape [3] but `accum` has shape [2]",
}
