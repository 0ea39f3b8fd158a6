//! The methods of the numeric tower as functions of tiles: what fused nodes compute with. One loop per method
//! and type, compiled for the machine's vector width. They compute by the very methods that kernels use.

use super::{Field, Float, Math, Num, Real};
use crate::shared::elementwise::vectorized;
use millstream_graph::op::{TileElement, TileFn, TileMut, TileRef};

/// Declares the function that finds methods by their names: of one argument, of two, and those that answer a
/// question.
macro_rules! methods {
    ($find:ident: $bound:path;
     $($trait:ident: [$($one:ident),*] [$($two:ident),*] [$($asks:ident),*] [$($asks_two:ident),*];)*) => {
        pub(super) fn $find<T: TileElement + $bound>(name: &str) -> Option<TileFn> {
            $($(
                if name == stringify!($one) {
                    return Some(|to, from| {
                        same_one::<T>(to, from, #[inline(always)] |a| <T as $trait>::$one(a))
                    });
                }
            )* $(
                if name == stringify!($two) {
                    return Some(|to, from| {
                        same_two::<T>(to, from, #[inline(always)] |a, b| <T as $trait>::$two(a, b))
                    });
                }
            )* $(
                if name == stringify!($asks) {
                    return Some(|to, from| {
                        one::<T, bool>(to, from, #[inline(always)] |a| <T as $trait>::$asks(a))
                    });
                }
            )* $(
                if name == stringify!($asks_two) {
                    return Some(|to, from| {
                        two::<T, bool>(to, from, #[inline(always)] |a, b| <T as $trait>::$asks_two(a, b))
                    });
                }
            )*)*
            None
        }
    };
}

methods! { of_float: FloatTile;
    Math: [] [] [] [equal];
    Num: [neg, sign, round] [add, sub, mul, div, pow] [] [];
    Real: [abs] [max, min] [] [less, less_equal];
    Field: [exp, expm1, log, log1p, sqrt, rsqrt, sin, cos, tanh, sigmoid] [] [] [];
    Float: [floor, ceil, erf] [] [is_nan, is_inf, is_finite] [];
}
methods! { of_int: IntTile;
    Math: [] [] [] [equal];
    Num: [neg, sign] [add, sub, mul] [] [];
    Real: [abs] [max, min] [] [less, less_equal];
}

/// Floats whose comparisons are bools.
pub(super) trait FloatTile: Float + Math<Mask = bool> {}
impl<T: Float + Math<Mask = bool>> FloatTile for T {}

/// Integers whose comparisons are bools.
pub(super) trait IntTile: Real + Math<Mask = bool> {}
impl<T: Real + Math<Mask = bool>> IntTile for T {}

/// A method that keeps the type: it may work in place.
#[inline(always)]
fn same_one<T: TileElement>(to: TileMut<'_>, from: &[TileRef<'_>], f: impl Fn(T) -> T + Copy) -> bool {
    let [TileRef::Result] = from else { return one::<T, T>(to, from, f) };
    let Some(to) = T::write(to) else { return false };
    vectorized(
        #[inline(always)]
        || to.iter_mut().for_each(|to| *to = f(*to)),
    );
    true
}

/// A method of two operands that keeps the type: it may work in place.
#[inline(always)]
fn same_two<T: TileElement>(to: TileMut<'_>, from: &[TileRef<'_>], f: impl Fn(T, T) -> T + Copy) -> bool {
    match from {
        [TileRef::Result, TileRef::Result] => same_one(to, &[TileRef::Result], |a| f(a, a)),
        [TileRef::Result, b] => onto(to, *b, f),
        [a, TileRef::Result] => onto(
            to,
            *a,
            #[inline(always)]
            |b, a| f(a, b),
        ),
        _ => two::<T, T>(to, from, f),
    }
}

/// `to = f(to, b)`.
#[inline(always)]
fn onto<T: TileElement>(to: TileMut<'_>, b: TileRef<'_>, f: impl Fn(T, T) -> T + Copy) -> bool {
    let (Some(to), Some(b)) = (T::write(to), T::read(b)) else { return false };
    match b {
        b if b.len() == to.len() => vectorized(
            #[inline(always)]
            || to.iter_mut().zip(b).for_each(|(to, b)| *to = f(*to, *b)),
        ),
        &[b] => vectorized(
            #[inline(always)]
            || to.iter_mut().for_each(|to| *to = f(*to, b)),
        ),
        _ => return false,
    }
    true
}

#[inline(always)]
fn one<T: TileElement, O: TileElement>(
    to: TileMut<'_>,
    from: &[TileRef<'_>],
    f: impl Fn(T) -> O + Copy,
) -> bool {
    let (Some(to), &[a]) = (O::write(to), from) else { return false };
    match T::read(a) {
        Some(a) if a.len() == to.len() => vectorized(
            #[inline(always)]
            || to.iter_mut().zip(a).for_each(|(to, a)| *to = f(*a)),
        ),
        Some(&[a]) => to.fill(f(a)),
        _ => return false,
    }
    true
}

#[inline(always)]
fn two<T: TileElement, O: TileElement>(
    to: TileMut<'_>,
    from: &[TileRef<'_>],
    f: impl Fn(T, T) -> O + Copy,
) -> bool {
    let (Some(to), &[a, b]) = (O::write(to), from) else { return false };
    let (Some(a), Some(b)) = (T::read(a), T::read(b)) else { return false };
    match (a, b) {
        (a, b) if a.len() == to.len() && b.len() == to.len() => vectorized(
            #[inline(always)]
            || to.iter_mut().zip(a.iter().zip(b)).for_each(|(to, (a, b))| *to = f(*a, *b)),
        ),
        (a, &[b]) if a.len() == to.len() => vectorized(
            #[inline(always)]
            || to.iter_mut().zip(a).for_each(|(to, a)| *to = f(*a, b)),
        ),
        (&[a], b) if b.len() == to.len() => vectorized(
            #[inline(always)]
            || to.iter_mut().zip(b).for_each(|(to, b)| *to = f(a, *b)),
        ),
        (&[a], &[b]) => to.fill(f(a, b)),
        _ => return false,
    }
    true
}
