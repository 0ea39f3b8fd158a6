//! `ApplyAdagrad` and its variants: Adagrad, for all rows or for some.

use super::optimizer::{Spec, Step, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 4] {
    let dense = Spec {
        doc: "Adds `grad^2` to `accum` (unless `update_slots` is false) and subtracts \
             `lr * grad / sqrt(accum)` from the variable. The sparse ops do this for the rows in `indices`.",
        variables: &["var", "accum"],
        values: &["lr", "grad"],
        flags: &[("update_slots", true)],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    let sparse = dense.values(&["lr", "grad", "indices"]);
    [
        dense.resource("ResourceApplyAdagrad"),
        dense.reference("ApplyAdagrad"),
        sparse.resource("ResourceSparseApplyAdagrad"),
        sparse.reference("SparseApplyAdagrad"),
    ]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 2)?;
    let lr = step.number::<T>("lr")?;
    let accum = match step.flag("update_slots")? {
        true => step.sweep(1, [step.grad], |accum: T, [grad]| accum + grad * grad)?,
        false => step.sweep(1, [], |accum: T, []| accum)?,
    };
    step.sweep(0, [step.grad, &accum], |var: T, [grad, accum]| var - grad * lr / accum.sqrt()).map(drop)
}

cases! {
    steps: "ResourceApplyAdagrad(@f32[2] [1 2], @f32[2] [0 16], f32 0.5, f32[2] [2 3]) ~ f32[2] [0.5 1.7], f32[2] [4 25]",
    slots_stay: "ResourceApplyAdagrad(@f32[1] [1], @f32[1] [16], f32 0.5, f32[1] [2]; update_slots=false) ~ f32[1] [0.75], f32[1] [16]",
    gives_the_reference: "ApplyAdagrad(&f32 1, &f32 12, f32 0.5, f32 2) ~ f32 0.75",
    rows: "ResourceSparseApplyAdagrad(@f32[2] [1 2], @f32[2] [0 12], f32 0.5, f32[1] [2], [1]) ~ f32[2] [1 1.75], f32[2] [0 16]",
    learns_the_shape: "SparseApplyAdagrad(&f32[?,3], &f32[2,?], f32[], f32[..], i64[4]) : f32[2,3]",
    rows_agree: "SparseApplyAdagrad(&f32[?,3], &f32[2,?], f32[], f32[5,3], i64[4]) ! `indices` has shape [4] but `grad` has shape [5,3]",
}
