//! `ApplyProximalAdagrad` and its variants: Adagrad with a proximal step, for all rows or for some.

use super::optimizer::{Spec, Step, drawn_to_zero, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 4] {
    let dense = Spec {
        doc: "Adds `grad^2` to `accum`, subtracts `rate * grad` from the variable, where \
             `rate = lr / sqrt(accum)`, and then shrinks the variable towards zero: by `rate * l1`, and by \
             division by `1 + rate * l2`. The sparse ops do this for the rows in `indices`.",
        variables: &["var", "accum"],
        values: &["lr", "l1", "l2", "grad"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    let sparse = dense.values(&["lr", "l1", "l2", "grad", "indices"]);
    [
        dense.resource("ResourceApplyProximalAdagrad"),
        dense.reference("ApplyProximalAdagrad"),
        sparse.resource("ResourceSparseApplyProximalAdagrad"),
        sparse.reference("SparseApplyProximalAdagrad"),
    ]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 2)?;
    let [lr, l1, l2] = [step.number::<T>("lr")?, step.number("l1")?, step.number("l2")?];
    let accum = step.sweep(1, [step.grad], |accum: T, [grad]| accum + grad * grad)?;
    step.sweep(0, [step.grad, &accum], |var: T, [grad, accum]| {
        let rate = lr * accum.sqrt().recip();
        drawn_to_zero(var - grad * rate, rate * l1, rate * l2)
    })
    .map(drop)
}

cases! {
    as_tensorflow: "ResourceApplyProximalAdagrad(@f64[2] [1 -0.5], @f64[2] [0.1 0.2], f64 0.5, f64 0.4, f64 0.2, f64[2] [0.3 -0.2]) ~ f64[2] [0.1602752641148315 0], f64[2] [0.19 0.24]",
    gives_the_reference: "ApplyProximalAdagrad(&f32 2, &f32 0, f32 0.5, f32 0, f32 4, f32 2) ~ f32 0.75",
    rows: "ResourceSparseApplyProximalAdagrad(@f32[2] [1 2], @f32[2] [0 0], f32 0.5, f32 1, f32 0, f32[1] [2], [1]) ~ f32[2] [1 1.25], f32[2] [0 4]",
    learns_the_shape: "SparseApplyProximalAdagrad(&f32[?,3], &f32[2,?], f32[], f32[], f32[], f32[..], i64[4]) : f32[2,3]",
    shapes_agree: "ApplyProximalAdagrad(&f32[3], &f32[2], f32[], f32[], f32[], f32[3]) ! the variable has shape [3] but `accum` has shape [2]",
}
