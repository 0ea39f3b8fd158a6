//! `ApplyProximalGradientDescent` and its variants: gradient descent with a proximal step, for all rows or
//! for some.

use super::optimizer::{Spec, Step, drawn_to_zero, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 4] {
    let dense = Spec {
        doc: "Subtracts `alpha * delta` from the variable, and then shrinks the variable towards zero: by \
             `alpha * l1`, and by division by `1 + alpha * l2`. The sparse ops do this for the rows in \
             `indices`.",
        variables: &["var"],
        values: &["alpha", "l1", "l2", "delta"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    let sparse = dense.values(&["alpha", "l1", "l2", "grad", "indices"]);
    [
        dense.resource("ResourceApplyProximalGradientDescent"),
        dense.reference("ApplyProximalGradientDescent"),
        sparse.resource("ResourceSparseApplyProximalGradientDescent"),
        sparse.reference("SparseApplyProximalGradientDescent"),
    ]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 1)?;
    let [alpha, l1, l2] = [step.number::<T>("alpha")?, step.number("l1")?, step.number("l2")?];
    step.sweep(0, [step.grad], |var: T, [delta]| drawn_to_zero(var - delta * alpha, alpha * l1, alpha * l2))
        .map(drop)
}

cases! {
    as_tensorflow: "ResourceApplyProximalGradientDescent(@f64[2] [1 -0.5], f64 0.5, f64 0.4, f64 0.2, f64[2] [0.3 -0.2]) ~ f64[2] [0.5909090909090908 -0.18181818181818182]",
    without_l1: "ApplyProximalGradientDescent(&f64[2] [1 -0.5], f64 0.5, f64 0, f64 0.2, f64[2] [0.3 -0.2]) ~ f64[2] [0.7727272727272726 -0.36363636363636365]",
    rows: "ResourceSparseApplyProximalGradientDescent(@f32[2] [1 2], f32 0.5, f32 1, f32 2, f32[1] [1], [1]) ~ f32[2] [1 0.5]",
    stops_at_zero: "SparseApplyProximalGradientDescent(&f32[2] [1 -0.25], f32 0.5, f32 1, f32 0, f32[1] [0], [1]) = f32[2] [1 -0]",
    learns_the_shape: "ApplyProximalGradientDescent(&f32[?,3], f32[], f32[], f32[], f32[2,?]) : f32[2,3]",
    shapes_agree: "ApplyProximalGradientDescent(&f32[2] [1 2], f32 0.5, f32 0, f32 0, f32 1) ! the variable has shape [2] but `delta` has shape []; they must be compatible",
}
