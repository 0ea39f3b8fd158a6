//! `ApplyAdadelta` and its variants: Adadelta, for all rows or for some.

use super::optimizer::{Spec, Step, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 4] {
    let dense = Spec {
        doc: "Updates `accum`, the moving average of `grad^2` with decay `rho`, and `accum_update`, that of \
             `update^2`, where `update = sqrt(accum_update + epsilon) / sqrt(accum + epsilon) * grad`, and \
             subtracts `lr * update` from the variable. The sparse ops do this for the rows in `indices`.",
        variables: &["var", "accum", "accum_update"],
        values: &["lr", "rho", "epsilon", "grad"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    let sparse = dense.values(&["lr", "rho", "epsilon", "grad", "indices"]);
    [
        dense.resource("ResourceApplyAdadelta"),
        dense.reference("ApplyAdadelta"),
        sparse.resource("ResourceSparseApplyAdadelta"),
        sparse.reference("SparseApplyAdadelta"),
    ]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 3)?;
    let [lr, rho, epsilon] = [step.number::<T>("lr")?, step.number("rho")?, step.number("epsilon")?];
    let rest = T::one() - rho;
    let accum = step.sweep(1, [step.grad], |accum: T, [grad]| accum * rho + grad * grad * rest)?;
    // Both the new mean and the update depend on the old mean.
    let update = step.sweep_giving(2, [step.grad, &accum], |mean: T, [grad, accum]| {
        let update = (mean + epsilon).sqrt() * (accum + epsilon).sqrt().recip() * grad;
        (mean * rho + update * update * rest, update)
    })?;
    step.sweep(0, [&update], |var: T, [update]| var - update * lr).map(drop)
}

cases! {
    as_tensorflow: "ResourceApplyAdadelta(@f64[2] [1 -0.5], @f64[2] [0.1 0.2], @f64[2] [0.3 0.4], f64 0.5, f64 0.9, f64 0.01, f64[2] [0.3 -0.2]) ~ f64[2] [0.7470359201624204 -0.35462455290333], f64[2] [0.099 0.184], f64[2] [0.29559633027522936 0.36845360824742274]",
    gives_the_reference: "ApplyAdadelta(&f32 1, &f32 0, &f32 4, f32 0.5, f32 0.75, f32 0, f32 2) ~ f32 -1",
    rows: "ResourceSparseApplyAdadelta(@f32[2] [5 1], @f32[2] [0 0], @f32[2] [0 4], f32 0.5, f32 0.75, f32 0, f32[1] [2], [1]) ~ f32[2] [5 -1], f32[2] [0 1], f32[2] [0 7]",
    one_row_twice: "SparseApplyAdadelta(&f32[1] [1], &f32[1] [0], &f32[1] [4], f32 0.5, f32 0, f32 0, f32[2] [2 2], [0 0]) ~ f32[1] [-1]",
    learns_the_shape: "ApplyAdadelta(&f32[?], &f32[?], &f32[2], f32[], f32[], f32[], f32[?]) : f32[2]",
    rho_is_a_scalar: "ApplyAdadelta(&f32[?], &f32[?], &f32[2], f32[], f32[2], f32[], f32[?]) ! `rho` must be a scalar",
}
