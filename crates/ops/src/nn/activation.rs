//! Declarations and loops that activations and their gradients share. The loops work in place if the input is
//! not shared.

use crate::number::FloatElement;
use millstream_graph::op::{Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::{Element, Result, Tensor, ensure};

/// Returns the declaration of an activation without its types.
pub(super) fn activation(name: &'static str, run: RunFn) -> OpDef {
    OpDef::new(name)
        .input("features", "T")
        .output("activations", "T")
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(run))
}

/// Returns the declaration of the gradient of an activation. `of` is `features` or `outputs`.
pub(super) fn gradient(name: &'static str, of: &'static str, run: RunFn) -> OpDef {
    OpDef::new(name)
        .input("gradients", "T")
        .input(of, "T")
        .output("backprops", "T")
        .infer(|cx| {
            let shape = cx.merge(0, 1)?;
            cx.set(0, shape);
            Ok(())
        })
        .kernel(Kernel::pure(run))
}

/// Returns `f` of every element of input 0.
pub(super) fn map<T: Element>(cx: &mut KernelCx, f: impl Fn(T) -> T) -> Result<Tensor> {
    let mut x = cx.take(0);
    if let Some(cells) = x.make_mut::<T>() {
        cells.iter_mut().for_each(|c| *c = f(*c));
        return Ok(x);
    }
    Tensor::from_iter(x.shape().clone(), x.as_slice::<T>()?.iter().map(|v| f(*v)))
}

/// Returns `f(gradient, x)` of every pair of elements of the two inputs.
pub(super) fn zip<T: Element>(cx: &mut KernelCx, f: impl Fn(T, T) -> T) -> Result<Tensor> {
    ensure!(
        cx.input(0).shape() == cx.input(1).shape(),
        "`gradients` has shape {} and `{}` has shape {}: they must be equal",
        cx.input(0).shape(),
        cx.name_of(1),
        cx.input(1).shape()
    );
    let (mut g, x) = (cx.take(0), cx.take(1));
    let xs = x.as_slice::<T>()?;
    if let Some(cells) = g.make_mut::<T>() {
        cells.iter_mut().zip(xs).for_each(|(c, x)| *c = f(*c, *x));
        return Ok(g);
    }
    let pairs = g.as_slice::<T>()?.iter().zip(xs);
    Tensor::from_iter(g.shape().clone(), pairs.map(|(g, x)| f(*g, *x)))
}

/// The constants of the scaled exponential linear unit: the scale, and the scale times alpha.
pub(super) const SELU: (f64, f64) = (1.050_700_987_355_480_5, 1.758_099_340_847_376_6);

/// Returns a constant in the type that a kernel computes in.
pub(super) fn constant<W: num_traits::Float>(value: f64) -> W {
    W::from(value).unwrap_or_else(W::nan)
}

/// Returns the slope of a leaky activation, rounded to the dtype of the features as in TensorFlow.
pub(super) fn alpha<T: FloatElement>(cx: &KernelCx) -> Result<T::Work> {
    let alpha = cx.attrs().float("alpha")?;
    Ok(T::of_work(constant(alpha.into())).work())
}
