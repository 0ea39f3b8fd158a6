//! `ResourceApplyKerasMomentum` and its sparse variant: momentum with the learning rate inside the
//! accumulator.

use super::optimizer::{Spec, Step, steps};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{Element, Result};
use num_traits::Float;

pub(crate) fn def() -> [OpDef; 2] {
    let dense = Spec {
        doc: "Sets `accum = accum * momentum - lr * grad` and adds `accum` to the variable, or, if \
             `use_nesterov` is true, `accum * momentum - lr * grad`. The sparse op does this for the rows \
             in `indices`.",
        variables: &["var", "accum"],
        values: &["lr", "grad", "momentum"],
        flags: &[("use_nesterov", false)],
        run: |cx| steps!(cx, T => step::<T>(cx)),
    };
    let sparse = dense.values(&["lr", "grad", "indices", "momentum"]);
    [dense.resource("ResourceApplyKerasMomentum"), sparse.resource("ResourceSparseApplyKerasMomentum")]
}

fn step<T: Float + Element>(cx: &KernelCx) -> Result<()> {
    let step = Step::new::<T>(cx, 2)?;
    let (lr, momentum) = (step.number::<T>("lr")?, step.number::<T>("momentum")?);
    let accum = step.sweep(1, [step.grad], |accum: T, [grad]| accum * momentum - grad * lr)?;
    match step.flag("use_nesterov")? {
        true => {
            step.sweep(0, [step.grad, &accum], |var: T, [grad, accum]| var + (accum * momentum - grad * lr))
        }
        false => step.sweep(0, [&accum], |var: T, [accum]| var + accum),
    }
    .map(drop)
}

cases! {
    steps: "ResourceApplyKerasMomentum(@f32[2] [1 2], @f32[2] [1 0], f32 0.5, f32[2] [2 4], f32 0.5) = f32[2] [0.5 0], f32[2] [-0.5 -2]",
    nesterov: "ResourceApplyKerasMomentum(@f32[1] [1], @f32[1] [1], f32 0.5, f32[1] [2], f32 0.5; use_nesterov=true) = f32[1] [-0.25], f32[1] [-0.5]",
    rows: "ResourceSparseApplyKerasMomentum(@f32[2] [1 2], @f32[2] [0 0], f32 0.5, f32[1] [4], [1], f32 0.5) = f32[2] [1 0], f32[2] [0 -2]",
    gives_nothing: "ResourceApplyKerasMomentum(@f32[2], @f32[2], f32[], f32[2], f32[]) :",
    shapes_agree: "ResourceApplyKerasMomentum(@f32[2], @f32[2], f32[], f32[3], f32[]) ! the variable has shape [2] but `grad` has shape [3]",
}
