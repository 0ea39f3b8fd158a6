//! `ResourceApplyGradientDescent`, `ApplyGradientDescent`: gradient descent.

use super::optimizer::{Spec, Step, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 2] {
    let spec = Spec {
        doc: "Subtracts `alpha * delta` from the variable.",
        variables: &["var"],
        values: &["alpha", "delta"],
        flags: &[],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    [spec.resource("ResourceApplyGradientDescent"), spec.reference("ApplyGradientDescent")]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 1)?;
    let alpha = step.number::<T>("alpha")?;
    step.sweep(0, [step.grad], |var: T, [delta]| var - delta * alpha).map(drop)
}

cases! {
    steps: "ResourceApplyGradientDescent(@f32[2] [1 2], f32 0.5, f32[2] [2 4]) = f32[2] [0 0]",
    gives_the_reference: "ApplyGradientDescent(&f64 1, f64 0.5, f64 1) = f64 0.5",
    learns_the_shape: "ApplyGradientDescent(&f32[?,3], f32[], f32[2,?]) : f32[2,3]",
    shapes_must_agree: "ApplyGradientDescent(&f32[2] [1 2], f32 1, f32[3] [1 2 3]) ! Dimension 0 in both shapes must be equal, but are 2 and 3",
    shapes_agree: "ApplyGradientDescent(&f32[2] [1 2], f32 0.5, f32 1) ! the variable has shape [2] but `delta` has shape []; they must be compatible",
    alpha_is_a_scalar: "ApplyGradientDescent(&f32[2] [1 2], f32[1] [0.5], f32[2] [1 2]) ! `alpha` must be a scalar",
    needs_a_value: "ResourceApplyGradientDescent(@f32[2], f32 0.5, f32[2] [2 4]) ! is used before it has a value",
}
