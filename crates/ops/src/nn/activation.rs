//! What activations and their gradients share: declarations, and loops that work in place where nobody shares the input.

use crate::number::Float;
use millstream_graph::op::{Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::{Element, Result, Tensor, ensure};

/// The declaration of an activation but for its types.
pub(super) fn activation(name: &'static str, run: RunFn) -> OpDef {
    OpDef::new(name)
        .input("features", "T")
        .output("activations", "T")
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(run))
}

/// The declaration of the gradient of an activation; `of` is `features` or `outputs`.
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

/// Output 0 is `f` of every element of input 0.
pub(super) fn map<T: Element>(cx: &mut KernelCx, f: impl Fn(T) -> T) -> Result<Tensor> {
    let mut x = cx.take(0);
    if let Some(cells) = x.make_mut::<T>() {
        cells.iter_mut().for_each(|c| *c = f(*c));
        return Ok(x);
    }
    Tensor::from_iter(x.shape().clone(), x.as_slice::<T>()?.iter().map(|v| f(*v)))
}

/// Output 0 is `f(gradient, x)` of every pair of elements of the inputs.
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

/// The two constants of the scaled exponential linear unit: for positive numbers, and for negative ones.
pub(super) const SELU: (f64, f64) = (1.050_700_987_355_480_5, 1.758_099_340_847_376_6);

/// A constant in the type that a kernel works in.
pub(super) fn constant<W: num_traits::Float>(value: f64) -> W {
    W::from(value).unwrap_or_else(W::nan)
}

/// The slope of a leaky activation, rounded to the type of the features as TensorFlow does.
pub(super) fn alpha<T: Float>(cx: &KernelCx) -> Result<T::Work> {
    let alpha = cx.attrs().float("alpha")?;
    Ok(T::of_work(constant(alpha.into())).work())
}
