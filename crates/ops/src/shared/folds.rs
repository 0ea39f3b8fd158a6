//! The folds of the reductions and segment ops.

use super::fold::Fold;
use crate::number::{Num, Number, RealElement};
use num_traits::AsPrimitive;
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

/// The square root of the sum of the squares of absolute values.
pub(crate) struct EuclideanNorm<T>(PhantomData<T>);

impl<T: Number> Fold for EuclideanNorm<T> {
    type In = T;
    type Out = T;
    type Acc = T::Wide;
    const START: Self::Acc = <T::Wide as Number>::ZERO;
    #[inline(always)]
    fn step(acc: Self::Acc, x: T) -> Self::Acc {
        acc.add(x.widen().mul(x.widen().conj()))
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

/// The square root of the sum of the squares of integers, truncated. The sum is kept in 128 bits: TensorFlow
/// keeps it in the type of the elements, where it may wrap around although the root would fit.
pub(crate) struct IntegerNorm<T>(PhantomData<T>);

impl<T: Number + AsPrimitive<i128> + TryFrom<u128>> Fold for IntegerNorm<T>
where
    u128: AsPrimitive<T>,
{
    type In = T;
    type Out = T;
    type Acc = u128;
    const START: u128 = 0;
    #[inline(always)]
    fn step(acc: u128, x: T) -> u128 {
        let size = x.as_().unsigned_abs();
        acc.saturating_add(size * size)
    }
    #[inline(always)]
    fn merge(a: u128, b: u128) -> u128 {
        a.saturating_add(b)
    }
    /// A root that does not fit is that of the sum that wraps around, as in TensorFlow.
    #[inline(always)]
    fn finish(acc: u128, _: usize) -> T {
        T::try_from(acc.isqrt()).unwrap_or_else(|_| AsPrimitive::<T>::as_(acc).root())
    }
}
