//! `L2Loss`: half the sum of squares.

use crate::number::{FloatElement, Number, no_kernel};
use crate::shared::fold::fold_run;
use crate::shared::folds::EuclideanNorm;
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("L2Loss")
        .doc("Computes half the sum of the squares of all elements.")
        .input("t", "T")
        .output("output", "T")
        .attr("T", FloatType)
        .infer(|cx| cx.scalars())
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let t = cx.input(0);
    let out = with_element!(t.dtype(), T in floats => half_of_squares::<T>(t), else => Err(no_kernel("L2Loss", t.dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn half_of_squares<T: FloatElement>(t: &Tensor) -> Result<Tensor> {
    let squares = fold_run::<EuclideanNorm<T>>(t.as_slice::<T>()?, &mut Pace::new())?;
    Ok(Tensor::scalar(T::narrow(squares.over(T::Wide::count(2)))))
}

// d(Σ t² / 2) = Σ t dt
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, t) = (cx.grad(0), cx.input(0));
    cx.give(0, t * dy);
    Ok(())
}

cases! {
    halves_squares: "L2Loss([1.0 2.0 3.0]) = 7.0",
    of_nothing: "L2Loss(f32[0] []) = 0.0",
    shape: "L2Loss(f32[?,3]) : f32[]",
    no_integers: "L2Loss([1]) ! does not work on i32",
}
