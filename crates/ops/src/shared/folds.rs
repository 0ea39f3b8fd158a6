//! The folds of the reductions and segment ops.

use super::fold::Fold;
use crate::number::{Num, Number, RealElement};
use std::marker::PhantomData;

/// The sum.
pub(crate) struct Sum<T>(PhantomData<T>);

impl<T: Number> Fold for Sum<T> {
    type In = T;
    type Out = T;
    type Acc = T::Wide;
    const START: Self::Acc = <T::Wide as Number>::ZERO;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        acc.add(x.widen())
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        a.add(b)
    }
    #[inline(always)]
    fn finish(acc: Self::Acc, _: usize) -> T {
        T::narrow(acc)
    }
}

/// The product.
pub(crate) struct Prod<T>(PhantomData<T>);

impl<T: Number> Fold for Prod<T> {
    type In = T;
    type Out = T;
    type Acc = T::Wide;
    const START: Self::Acc = <T::Wide as Number>::ONE;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        acc.mul(x.widen())
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        a.mul(b)
    }
    #[inline(always)]
    fn finish(acc: Self::Acc, _: usize) -> T {
        T::narrow(acc)
    }
}

/// The greatest element, or NaN if one is NaN.
pub(crate) struct Max<T>(PhantomData<T>);

impl<T: RealElement> Fold for Max<T> {
    type In = T;
    type Out = T;
    type Acc = T;
    const START: Self::Acc = T::LOWEST;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        acc.max(x)
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        b.max(a)
    }
    #[inline(always)]
    fn finish(acc: Self::Acc, _: usize) -> T {
        acc
    }
}

/// The least element, or NaN if one is NaN.
pub(crate) struct Min<T>(PhantomData<T>);

impl<T: RealElement> Fold for Min<T> {
    type In = T;
    type Out = T;
    type Acc = T;
    const START: Self::Acc = T::HIGHEST;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        acc.min(x)
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        b.min(a)
    }
    #[inline(always)]
    fn finish(acc: Self::Acc, _: usize) -> T {
        acc
    }
}

/// The square root of the sum of the squares; of complex numbers without taking the conjugate, as in
/// TensorFlow.
pub(crate) struct EuclideanNorm<T>(PhantomData<T>);

impl<T: Number> Fold for EuclideanNorm<T> {
    type In = T;
    type Out = T;
    type Acc = T::Wide;
    const START: Self::Acc = <T::Wide as Number>::ZERO;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        acc.add(x.widen().mul(x.widen()))
    }
    #[inline(always)]
    fn merge(a: Self::Acc, b: Self::Acc) -> Self::Acc {
        a.add(b)
    }
    #[inline(always)]
    fn finish(acc: Self::Acc, _: usize) -> T {
        T::narrow(acc.root())
    }
}
