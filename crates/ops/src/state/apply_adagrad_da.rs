//! `ApplyAdagradDA` and its variants: Adagrad dual averaging (Duchi, Hazan and Singer, 2011), for all rows or
//! for some.

use super::optimizer::{Spec, Step, sign, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 4] {
    let dense = Spec {
        doc: "Adds `grad` to `gradient_accumulator` and `grad^2` to `gradient_squared_accumulator`, and sets \
             the variable to `-lr * g / (l2 * global_step * lr + sqrt(gradient_squared_accumulator))`, \
             where `g` is the first accumulator shrunk towards zero by `l1 * global_step`. The sparse ops \
             do this for the rows in `indices`.",
        variables: &["var", "gradient_accumulator", "gradient_squared_accumulator"],
        values: &["grad", "lr", "l1", "l2", "global_step"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    let sparse = dense.values(&["grad", "indices", "lr", "l1", "l2", "global_step"]);
    [
        dense.resource("ResourceApplyAdagradDA"),
        dense.reference("ApplyAdagradDA"),
        sparse.resource("ResourceSparseApplyAdagradDA"),
        sparse.reference("SparseApplyAdagradDA"),
    ]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 3)?;
    let [lr, l1, l2] = [step.number::<T>("lr")?, step.number("l1")?, step.number("l2")?];
    let steps = T::from(step.number::<i64>("global_step")?).unwrap_or_else(T::nan);
    let sum = step.sweep(1, [step.grad], |sum: T, [grad]| sum + grad)?;
    let squares = step.sweep(2, [step.grad], |squares: T, [grad]| squares + grad * grad)?;
    step.sweep(0, [&sum, &squares], |_: T, [sum, squares]| {
        let drawn = if l1 > T::zero() { sign(sum) * (sum.abs() - l1 * steps).max(T::zero()) } else { sum };
        -lr * drawn / (l2 * steps * lr + squares.sqrt())
    })
    .map(drop)
}

cases! {
    as_tensorflow: "ResourceApplyAdagradDA(@f64[2] [1 -0.5], @f64[2] [0.1 -0.3], @f64[2] [0.1 0.2], f64[2] [0.3 -0.2], f64 0.5, f64 0.05, f64 0.2, i64 3) ~ f64[2] [-0.1698623679425842 0.22154760664940817], f64[2] [0.4 -0.5], f64[2] [0.19 0.24]",
    without_l1: "ApplyAdagradDA(&f64[2] [1 -0.5], &f64[2] [0.1 -0.3], &f64[2] [0.1 0.2], f64[2] [0.3 -0.2], f64 0.5, f64 0, f64 0.2, i64 3) ~ f64[2] [-0.27177978870813474 0.316496580927726]",
    rows: "ResourceSparseApplyAdagradDA(@f32[2] [1 2], @f32[2] [0 1], @f32[2] [0 0], f32[1] [2], [1], f32 0.5, f32 1, f32 0, i64 2) ~ f32[2] [1 -0.25], f32[2] [0 3], f32[2] [0 4]",
    learns_the_shape: "SparseApplyAdagradDA(&f32[?,3], &f32[2,?], &f32[..], f32[..], i64[4], f32[], f32[], f32[], i64[]) : f32[2,3]",
    shapes_agree: "ApplyAdagradDA(&f32[3], &f32[2], &f32[3], f32[3], f32[], f32[], f32[], i64[]) ! the variable has shape [3] but `gradient_accumulator` has shape [2]",
}
