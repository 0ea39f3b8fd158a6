//! `ApplyMomentum` and its variants: momentum, for all rows or for some.

use super::optimizer::{Spec, Step, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 4] {
    let dense = Spec {
        doc: "Sets `accum = accum * momentum + grad` and subtracts `lr * accum` from the variable, or, if \
             `use_nesterov` is true, `lr * (grad + momentum * accum)`. The sparse ops do this for the rows \
             in `indices`.",
        variables: &["var", "accum"],
        values: &["lr", "grad", "momentum"],
        flags: &[("use_nesterov", false)],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    let sparse = dense.values(&["lr", "grad", "indices", "momentum"]);
    [
        dense.resource("ResourceApplyMomentum"),
        dense.reference("ApplyMomentum"),
        sparse.resource("ResourceSparseApplyMomentum"),
        sparse.reference("SparseApplyMomentum"),
    ]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 2)?;
    let (lr, momentum) = (step.number::<T>("lr")?, step.number::<T>("momentum")?);
    let accum = step.sweep(1, [step.grad], |accum: T, [grad]| accum * momentum + grad)?;
    match step.flag("use_nesterov")? {
        true => step
            .sweep(0, [step.grad, &accum], |var: T, [grad, accum]| var - (grad * lr + accum * momentum * lr)),
        false => step.sweep(0, [&accum], |var: T, [accum]| var - accum * lr),
    }
    .map(drop)
}

cases! {
    steps: "ResourceApplyMomentum(@f32[2] [1 2], @f32[2] [1 0], f32 0.5, f32[2] [2 4], f32 0.5) = f32[2] [-0.25 0], f32[2] [2.5 4]",
    nesterov: "ResourceApplyMomentum(@f32[1] [1], @f32[1] [1], f32 0.5, f32[1] [2], f32 0.5; use_nesterov=true) = f32[1] [-0.625], f32[1] [2.5]",
    gives_the_reference: "ApplyMomentum(&f32 1, &f32 1, f32 0.5, f32 2, f32 0.5) = f32 -0.25",
    rows: "ResourceSparseApplyMomentum(@f32[2,1] [[1] [2]], @f32[2,1] [[0] [0]], f32 0.5, f32[1,1] [[4]], [1], f32 0.5) = f32[2,1] [[1] [0]], f32[2,1] [[0] [4]]",
    one_row_twice: "SparseApplyMomentum(&f32[2] [1 2], &f32[2] [0 0], f32 0.5, f32[2] [4 4], [1 1], f32 0.5) = f32[2] [1 -3]",
    learns_the_shape: "ApplyMomentum(&f32[?,3], &f32[2,?], f32[], f32[..], f32[]) : f32[2,3]",
    sparse_shape: "SparseApplyMomentum(&f32[?,?], &f32[2,?], f32[], f32[?,3], i32[4], f32[]) : f32[2,3]",
    slots_agree: "ResourceApplyMomentum(@f32[2] [1 2], @f32[1] [1], f32 0.5, f32[2] [2 4], f32 0.5) ! the variable has shape [2] but `accum` has shape [1]",
    index_in_range: "SparseApplyMomentum(&f32[2] [1 2], &f32[2] [0 0], f32 0.5, f32[1] [4], [2], f32 0.5) ! `indices`[0] is 2, which is not in 0..2",
}
