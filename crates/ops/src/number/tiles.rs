//! The methods of the numeric tower as functions of tiles: what fused nodes compute with. One loop per method
//! and type, compiled for the machine's vector width. They compute by the very methods that kernels use.

use super::{Field, Float, Math, Num, Real};
use crate::shared::elementwise::vectorized;
use millstream_graph::op::{SliceFn, TileElement, TileFns, TileMut, TileRef};

/// Declares the function that finds methods by their names: of one argument, of two, and those that answer a
/// question.
macro_rules! methods {
    ($find:ident: $bound:path;
     $($trait:ident: [$($one:ident),*] [$($two:ident),*] [$($asks:ident),*] [$($asks_two:ident),*];)*) => {
        pub(super) fn $find<T: TileElement + $bound>(name: &str) -> Option<TileFns> {
            $($(
                if name == stringify!($one) {
                    fn run<T: TileElement + $bound>(to: &mut [T], a: Option<&[T]>, _: Option<&[T]>) -> bool {
                        same_one::<T>(to, a, #[inline(always)] |a| <T as $trait>::$one(a))
                    }
                    return Some(TileFns::of_slices::<T>(|to, from| through(to, from, run::<T>), run::<T>));
                }
            )* $(
                if name == stringify!($two) {
                    fn run<T: TileElement + $bound>(to: &mut [T], a: Option<&[T]>, b: Option<&[T]>) -> bool {
                        same_two::<T>(to, a, b, #[inline(always)] |a, b| <T as $trait>::$two(a, b))
                    }
                    return Some(TileFns::of_slices::<T>(|to, from| through(to, from, run::<T>), run::<T>));
                }
            )* $(
                if name == stringify!($asks) {
                    return Some(TileFns::of(|to, from| {
                        one::<T, bool>(to, from, #[inline(always)] |a| <T as $trait>::$asks(a))
                    }));
                }
            )* $(
                if name == stringify!($asks_two) {
                    return Some(TileFns::of(|to, from| {
                        two::<T, bool>(to, from, #[inline(always)] |a, b| <T as $trait>::$asks_two(a, b))
                    }));
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

/// Calls a function of slices with tiles.
#[inline(always)]
fn through<T: TileElement>(to: TileMut<'_>, from: &[TileRef<'_>], f: SliceFn<T>) -> bool {
    let Some(to) = T::write(to) else { return false };
    match from {
        [a] => f(to, slice(*a), None),
        [a, b] => f(to, slice(*a), slice(*b)),
        _ => false,
    }
}

/// The operand of a function of slices. One of another type is empty, which the function refuses.
#[inline(always)]
fn slice<T: TileElement>(from: TileRef<'_>) -> Option<&[T]> {
    match from {
        TileRef::Result => None,
        from => Some(T::read(from).unwrap_or(&[])),
    }
}

/// A method that keeps the type: it may work in place.
#[inline(always)]
fn same_one<T: TileElement>(to: &mut [T], from: Option<&[T]>, f: impl Fn(T) -> T + Copy) -> bool {
    match from {
        None => vectorized(
            #[inline(always)]
            || to.iter_mut().for_each(|to| *to = f(*to)),
        ),
        Some(from) if from.len() == to.len() => vectorized(
            #[inline(always)]
            || to.iter_mut().zip(from).for_each(|(to, a)| *to = f(*a)),
        ),
        Some(&[a]) => to.fill(f(a)),
        Some(_) => return false,
    }
    true
}

/// A method of two operands that keeps the type: it may work in place.
#[inline(always)]
fn same_two<T: TileElement>(
    to: &mut [T],
    a: Option<&[T]>,
    b: Option<&[T]>,
    f: impl Fn(T, T) -> T + Copy,
) -> bool {
    match (a, b) {
        (None, None) => same_one(
            to,
            None,
            #[inline(always)]
            |a| f(a, a),
        ),
        (None, Some(b)) => onto(to, b, f),
        (Some(a), None) => onto(
            to,
            a,
            #[inline(always)]
            |b, a| f(a, b),
        ),
        (Some(a), Some(b)) => both(to, a, b, f),
    }
}

/// `to = f(to, b)`.
#[inline(always)]
fn onto<T: TileElement>(to: &mut [T], b: &[T], f: impl Fn(T, T) -> T + Copy) -> bool {
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
    both(to, a, b, f)
}

/// `to = f(a, b)`, where either operand may be one for all.
#[inline(always)]
fn both<T: TileElement, O: TileElement>(
    to: &mut [O],
    a: &[T],
    b: &[T],
    f: impl Fn(T, T) -> O + Copy,
) -> bool {
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
