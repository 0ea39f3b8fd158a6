//! `ApplyFtrl`, `ApplyFtrlV2` and their variants: follow the regularized leader (McMahan et al., 2013), for
//! all rows or for some.

use super::optimizer::{Spec, Step, sign, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 8] {
    let dense = Spec {
        doc: "Adds `grad^2` to `accum`, giving `accum_new`, and \
             `grad - (accum_new^-lr_power - accum^-lr_power) / lr * var` to `linear`, and sets the variable \
             to `(sign(linear) * l1 - linear) / (accum_new^-lr_power / lr + 2 * l2)`, or to 0 where \
             `|linear|` is at most `l1`. The sparse ops do this for the rows in `indices`.",
        variables: &["var", "accum", "linear"],
        values: &["grad", "lr", "l1", "l2", "lr_power"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx, false)),
    };
    let sparse = dense.values(&["grad", "indices", "lr", "l1", "l2", "lr_power"]);
    let second = Spec {
        doc: "Updates the variable as the first version does, but adds `grad + 2 * l2_shrinkage * var` in \
             place of `grad` to `linear`.",
        values: &["grad", "lr", "l1", "l2", "l2_shrinkage", "lr_power"],
        run: |cx| steps!(cx, T => step::<T>(cx, true)),
        ..dense
    };
    let second_sparse = second.values(&["grad", "indices", "lr", "l1", "l2", "l2_shrinkage", "lr_power"]);
    [
        dense.resource("ResourceApplyFtrl"),
        dense.reference("ApplyFtrl"),
        sparse.resource("ResourceSparseApplyFtrl"),
        sparse.reference("SparseApplyFtrl"),
        second.resource("ResourceApplyFtrlV2"),
        second.reference("ApplyFtrlV2"),
        second_sparse.resource("ResourceSparseApplyFtrlV2"),
        second_sparse.reference("SparseApplyFtrlV2"),
    ]
}

fn step<T: Float + Element>(cx: &KernelCx, shrinks: bool) -> Result<()> {
    let whole = Step::new::<T>(cx, 3)?;
    let two = T::one() + T::one();
    let [lr, l1, l2] = [whole.number::<T>("lr")?, whole.number("l1")?, whole.number("l2")?];
    let power = -whole.number::<T>("lr_power")?;
    let shrinkage = if shrinks { two * whole.number("l2_shrinkage")? } else { T::zero() };
    let raised = |x: T| if power + power == T::one() { x.sqrt() } else { x.powf(power) };
    // The second gradient of a row needs all three variables as the first one left them.
    whole.in_rounds(|step| {
        let var = step.sweep(0, [], |var: T, []| var)?;
        let before = step.sweep_giving(1, [step.grad], |accum: T, [grad]| (accum + grad * grad, accum))?;
        let linear = step.sweep(2, [step.grad, &before, &var], |linear: T, [grad, before, var]| {
            let grown = raised(before + grad * grad) - raised(before);
            linear + (grad + shrinkage * var) - grown / lr * var
        })?;
        let next = |_: T, [linear, before, grad]: [T; 3]| {
            let quadratic = raised(before + grad * grad) / lr + two * l2;
            if linear.abs() <= l1 { T::zero() } else { (sign(linear) * l1 - linear) / quadratic }
        };
        step.sweep(0, [&linear, &before, step.grad], next).map(drop)
    })
}

cases! {
    as_tensorflow: "ResourceApplyFtrl(@f64[2] [1 -0.5], @f64[2] [0.1 0.2], @f64[2] [0.05 0.3], f64[2] [0.3 -0.2], f64 0.5, f64 0.01, f64 0.2, f64 -0.5) ~ f64[2] [-0.07916130152359706 -0.09616230439173806], f64[2] [0.19 0.24], f64[2] [0.11067574332554121 0.1426843530566777]",
    another_power: "ApplyFtrl(&f64[2] [1 -0.5], &f64[2] [0.1 0.2], &f64[2] [0.05 0.3], f64[2] [0.3 -0.2], f64 0.5, f64 0.01, f64 0.2, f64 -0.4) ~ f64[2] [-0.07482066874312411 -0.08479306249160595]",
    fixed_rate: "ApplyFtrl(&f64[2] [1 -0.5], &f64[2] [0.1 0.2], &f64[2] [0.05 0.3], f64[2] [0.3 -0.2], f64 0.5, f64 0.01, f64 0.2, f64 0) ~ f64[2] [-0.14166666666666666 -0.0375]",
    shrinkage: "ResourceApplyFtrlV2(@f64[2] [1 -0.5], @f64[2] [0.1 0.2], @f64[2] [0.05 0.3], f64[2] [0.3 -0.2], f64 0.5, f64 0.01, f64 0.2, f64 0.1, f64 -0.5) ~ f64[2] [-0.23642123109297528 -0.023687817252579145], f64[2] [0.19 0.24], f64[2] [0.3106757433255412 0.04268435305667767]",
    drawn_to_zero: "ApplyFtrl(&f32[1] [0], &f32[1] [1], &f32[1] [0], f32[1] [1], f32 1, f32 2, f32 0, f32 0) = f32[1] [0]",
    rows: "SparseApplyFtrlV2(&f64[2] [7 -0.5], &f64[2] [7 0.2], &f64[2] [7 0.3], f64[1] [-0.2], [1], f64 0.5, f64 0.01, f64 0.2, f64 0.1, f64 -0.5) ~ f64[2] [7 -0.023687817252579145]",
    one_row_twice: "ResourceSparseApplyFtrl(@f64[2] [1 -0.5], @f64[2] [0.1 0.2], @f64[2] [0.05 0.3], f64[2] [0.3 -0.2], [0 0], f64 0.5, f64 0.01, f64 0.2, f64 -0.5) ~ f64[2] [0.053272823264900196 -0.5], f64[2] [0.23 0.2], f64[2] [-0.0824066263358952 0.3]",
    learns_the_shape: "SparseApplyFtrl(&f32[?,3], &f32[2,?], &f32[..], f32[..], i64[4], f32[], f32[], f32[], f32[]) : f32[2,3]",
    shapes_agree: "ApplyFtrl(&f32[3], &f32[2], &f32[3], f32[3], f32[], f32[], f32[], f32[]) ! the variable has shape [3] but `accum` has shape [2]",
}

#[cfg(test)]
mod tests {
    use crate::cases::{Case, evaluate};
    use std::time::{Duration, Instant};

    /// If all gradients are of one row, each is a round of its own. No round may take the time of all.
    #[test]
    fn many_gradients_of_one_row() {
        let n = 100_000;
        let list = |one: &str| vec![one; n].join(" ");
        let text = format!(
            "ResourceSparseApplyFtrl(@f64[1] [1], @f64[1] [0.5], @f64[1] [0], f64[{n}] [{}], [{}], f64 0.5, f64 0, f64 0, \
             f64 -0.5) = f64[1] [0], f64[1] [0], f64[1] [0]",
            list("0.5"),
            list("0")
        );
        let case = Case::parse(&text).unwrap();
        let start = Instant::now();
        let variables = evaluate(&case).unwrap();
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        assert_eq!(variables[1].as_slice::<f64>().unwrap(), [25000.5]);
    }
}
