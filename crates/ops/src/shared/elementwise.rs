//! Elementwise ops made from formulas: the declaration, the shape rule, the tensor kernel, and the fast path
//! for scalars.
//!
//! ```ignore
//! formula!(x, y: Num => x.add(y));
//!
//! pub(crate) fn def() -> OpDef {
//!     binary!("AddV2", numbers, Formula).doc("The elementwise sum `x + y`, with broadcasting.")
//! }
//! ```
//!
//! A formula becomes a type that implements [`Unary`] or [`Binary`] for every type with the named trait of
//! the numeric tower. The macros choose the element type by dtype. Per formula and element type, one function
//! of scalars and two loops are compiled; [`Pair`], [`Merge`], [`Each`] and [`Turn`] handle shapes,
//! broadcasting and buffers, and are compiled once per element type.
//!
//! The loops of types that are [`Lane::WIDE`] are compiled for the machine's vector width. The bits stay the
//! same: every element is computed by the same operations, which are not contracted or reordered.
//!
//! Long loops run in stretches, between which they look at the run's deadline and cancellation ([`paced`]).

use crate::number::{Lane, Mask, Math};
use millstream_graph::op::KernelCx;
use millstream_tensor::pace::{Pace, paced};
use millstream_tensor::{Code, Element, Error, Result, Scalar, Shape, Spread, Tensor, invalid};
use pulp::Arch;
use std::sync::LazyLock;

/// A formula of one element.
pub(crate) trait Unary<T: Math> {
    type Out;
    fn at(x: T) -> Self::Out;
}

/// A formula of two elements.
pub(crate) trait Binary<T: Math> {
    /// The error where [`Binary::fails`] holds.
    const FAILURE: Failure = Failure { code: Code::InvalidArgument, theirs: "", ours: "" };
    type Out;
    fn at(x: T, y: T) -> Self::Out;
    /// Returns whether the op has no value. `at` then returns some value.
    #[inline(always)]
    fn fails(_x: T, _y: T) -> T::Mask {
        Mask::never()
    }
}

/// The error of a formula that has no value.
#[derive(Clone, Copy)]
pub(crate) struct Failure {
    code: Code,
    /// TensorFlow's message.
    theirs: &'static str,
    /// The message of this engine, which follows the op's name.
    ours: &'static str,
}

impl Failure {
    /// A division by zero.
    pub(crate) const DIVISION: Failure = Failure {
        code: Code::InvalidArgument,
        theirs: "Integer division by zero",
        ours: "division by zero: `y` has a zero; mask it with Select before dividing",
    };
    /// A division by zero that rounds towards zero, for which TensorFlow has another code.
    pub(crate) const TRUNCATING_DIVISION: Failure = Failure {
        code: Code::Internal,
        theirs: "Unexpected error in binary operator (only integer div and mod should have errors)",
        ..Failure::DIVISION
    };
    /// A negative power of an integer.
    pub(crate) const POWER: Failure = Failure {
        code: Code::InvalidArgument,
        theirs: "Integers to negative integer powers are not allowed",
        ours: "an integer cannot be raised to a negative exponent: cast to a float first",
    };

    #[cold]
    fn error(self, op: &str) -> Error {
        Error::new(self.code, format!("{op}: {}", self.ours)).led_by(self.theirs)
    }
}

/// Declares the type `Formula`: `formula!(x: Num => x.neg())`, `formula!(x, y: Real => x.less(y), T::Mask)`
/// for another output type, `formula!(x, y: Int => x.div(y); y.divides_nothing() => Failure::DIVISION)` for
/// one that may fail. `T` is the element type.
macro_rules! formula {
    ($x:ident: $bound:ident => $value:expr) => { formula!($x: $bound => $value, T); };
    ($x:ident: $bound:ident => $value:expr, $out:ty) => {
        struct Formula;
        impl<T: $crate::number::$bound> $crate::shared::elementwise::Unary<T> for Formula {
            type Out = $out;
            #[inline(always)]
            fn at($x: T) -> $out { $value }
        }
    };
    ($x:ident, $y:ident: $bound:ident => $value:expr) => { formula!($x, $y: $bound => $value, T); };
    ($x:ident, $y:ident: $bound:ident => $value:expr, $out:ty) => {
        struct Formula;
        impl<T: $crate::number::$bound> $crate::shared::elementwise::Binary<T> for Formula {
            type Out = $out;
            #[inline(always)]
            fn at($x: T, $y: T) -> $out { $value }
        }
    };
    ($x:ident, $y:ident: $bound:ident => $value:expr; $fails:expr => $failure:expr) => {
        struct Formula;
        impl<T: $crate::number::$bound> $crate::shared::elementwise::Binary<T> for Formula {
            const FAILURE: $crate::shared::elementwise::Failure = $failure;
            type Out = T;
            #[inline(always)]
            fn at($x: T, $y: T) -> T { $value }
            #[inline(always)]
            fn fails($x: T, $y: T) -> T::Mask {
                let _ = ($x, $y); // Most tests need only one operand.
                $fails
            }
        }
    };
}

/// The kernel of a formula: `kernel!(binary, numbers, Formula)`. The first word is `unary` or `binary`; with
/// an output of another type, `turn` or `merge`. The formula is also read as the kernel's lowering.
macro_rules! kernel {
    ($kind:ident, $set:ident, $formula:ty) => {
        millstream_graph::op::Kernel::pure(|cx| {
            millstream_tensor::with_element!(cx.input(0).dtype(), T in $set => $crate::shared::elementwise::run::$kind::<T, $formula>(cx),
                else => Err($crate::shared::elementwise::unsupported(cx)))
        })
        .scalar(|node| {
            millstream_tensor::with_element!(node.input_types.first()?.dtype, T in $set => Some(kernel!(@scalar $kind, T, $formula)), else => None)
        })
        .lowered(kernel!(@lowered $kind, $formula))
    };
    (@lowered unary, $f:ty) => { kernel!(@lowered turn, $f) };
    (@lowered binary, $f:ty) => { kernel!(@lowered merge, $f) };
    (@lowered turn, $f:ty) => { |node| $crate::number::record::unary::<$f>(node.input_types.first()?.dtype) };
    (@lowered merge, $f:ty) => { |node| $crate::number::record::binary::<$f>(node.input_types.first()?.dtype) };
    (@scalar unary, $T:ty, $f:ty) => { kernel!(@scalar turn, $T, $f) };
    (@scalar binary, $T:ty, $f:ty) => { kernel!(@scalar merge, $T, $f) };
    (@scalar turn, $T:ty, $f:ty) => {
        millstream_graph::op::ScalarKernel::Unary($crate::shared::elementwise::scalar1::<$T, $f>)
    };
    (@scalar merge, $T:ty, $f:ty) => {
        millstream_graph::op::ScalarKernel::Binary($crate::shared::elementwise::scalar2::<$T, $f>)
    };
}

/// Declares an op `y = f(x)` with one type.
macro_rules! unary {
    ($name:literal, $set:ident, $formula:ty) => {
        millstream_graph::op::OpDef::new($name)
            .input("x", "T")
            .output("y", "T")
            .attr("T", millstream_graph::op::spec::OneOf(millstream_tensor::dtypes!($set)))
            .infer(|cx| cx.same_as_input())
            .kernel(kernel!(unary, $set, $formula))
    };
}

/// Declares an op `y = f(x)` with a bool output.
macro_rules! holds {
    ($name:literal, $set:ident, $formula:ty) => {
        millstream_graph::op::OpDef::new($name)
            .input("x", "T")
            .output("y", millstream_tensor::DType::Bool)
            .attr("T", millstream_graph::op::spec::OneOf(millstream_tensor::dtypes!($set)))
            .infer(|cx| cx.same_as_input())
            .kernel(kernel!(turn, $set, $formula))
    };
}

/// Declares an op `z = f(x, y)` with one type and broadcasting.
macro_rules! binary {
    ($name:literal, $set:ident, $formula:ty) => {
        millstream_graph::op::OpDef::new($name)
            .input("x", "T")
            .input("y", "T")
            .output("z", "T")
            .attr("T", millstream_graph::op::spec::OneOf(millstream_tensor::dtypes!($set)))
            .infer(|cx| cx.broadcast())
            .kernel(kernel!(binary, $set, $formula))
    };
}

/// Declares an op `z = f(x, y)` with a bool output and broadcasting.
macro_rules! compare {
    ($name:literal, $set:ident, $formula:ty) => {
        millstream_graph::op::OpDef::new($name)
            .input("x", "T")
            .input("y", "T")
            .output("z", millstream_tensor::DType::Bool)
            .attr("T", millstream_graph::op::spec::OneOf(millstream_tensor::dtypes!($set)))
            .infer(|cx| cx.broadcast())
            .kernel(kernel!(merge, $set, $formula))
    };
}

/// Returns the error for a dtype that the declaration allows but that has no kernel.
#[cold]
pub(crate) fn unsupported(cx: &KernelCx) -> Error {
    Error::unimplemented(format!("{} has no kernel for {}", cx.node.op.name, cx.input(0).dtype()))
}

/// Computes a unary formula of a scalar.
pub(crate) fn scalar1<T: Lane, F: Unary<T, Out: Element>>(x: &Scalar) -> Option<Scalar> {
    Some(F::at(*T::of(x)?).scalar())
}

/// Computes a binary formula of scalars; returns `None` if it fails.
pub(crate) fn scalar2<T: Lane, F: Binary<T, Out: Element>>(x: &Scalar, y: &Scalar) -> Option<Scalar> {
    let (x, y) = (*T::of(x)?, *T::of(y)?);
    if F::fails(x, y) { None } else { Some(F::at(x, y).scalar()) }
}

/// Runs `work`, compiled for the machine's vector width together with everything inlined into it.
#[inline(always)]
pub(crate) fn vectorized<R>(work: impl FnOnce() -> R) -> R {
    static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);
    ARCH.dispatch(work)
}

#[inline(always)]
fn wide<T: Lane, R>(work: impl FnOnce() -> R) -> R {
    if T::WIDE { vectorized(work) } else { work() }
}

/// The loops of a unary formula that keeps the type: `v = f(v)`.
pub(crate) struct Each<T>(fn(&mut [T]));

/// The loops of a unary formula that changes the type: `out = f(x)`.
pub(crate) struct Turn<T, O>(fn(&mut [O], &[T]));

/// The loops of a binary formula that keeps the type: `x = f(x, y)`, for a slice `y` and for a single `y`.
/// They return whether an element failed.
pub(crate) struct Pair<T> {
    slice: fn(&mut [T], &[T]) -> bool,
    one: fn(&mut [T], T) -> bool,
}

/// The loops of a binary formula that changes the type: `out = f(x, y)`.
pub(crate) struct Merge<T, O>(fn(&mut [O], &[T], &[T]) -> bool);

impl<T: Lane> Each<T> {
    pub(crate) const fn of<F: Unary<T, Out = T>>() -> Self {
        Each(|out| {
            wide::<T, _>(
                #[inline(always)]
                || out.iter_mut().for_each(|v| *v = F::at(*v)),
            )
        })
    }

    /// Computes the formula of every element, in place if the tensor is not shared.
    pub(crate) fn map(&self, mut x: Tensor) -> Result<Tensor> {
        if let Some(out) = x.make_mut::<T>() {
            paced(out.len(), |range| (self.0)(&mut out[range]))?;
            return Ok(x);
        }
        let mut out = Tensor::anything(T::DTYPE, x.shape().clone())?;
        let to = fresh::<T>(&mut out)?;
        let mut pace = Pace::new();
        for (to, from) in to.chunks_mut(TILE).zip(x.as_slice::<T>()?.chunks(TILE)) {
            pace.spend(TILE)?;
            to.copy_from_slice(from);
            (self.0)(to);
        }
        Ok(out)
    }
}

impl<T: Lane, O: Element> Turn<T, O> {
    pub(crate) const fn of<F: Unary<T, Out = O>>() -> Self {
        Turn(|out, x| {
            wide::<T, _>(
                #[inline(always)]
                || out.iter_mut().zip(x).for_each(|(o, x)| *o = F::at(*x)),
            )
        })
    }

    /// Computes the formula of every element.
    pub(crate) fn map(&self, x: &Tensor) -> Result<Tensor> {
        let mut out = Tensor::anything(O::DTYPE, x.shape().clone())?;
        let (to, x) = (fresh::<O>(&mut out)?, x.as_slice::<T>()?);
        paced(to.len(), |range| (self.0)(&mut to[range.clone()], &x[range]))?;
        Ok(out)
    }
}

impl<T: Lane> Pair<T> {
    pub(crate) const fn of<F: Binary<T, Out = T>>() -> Self {
        Pair {
            slice: |x, y| {
                wide::<T, _>(
                    #[inline(always)]
                    || {
                        let mut failed = false;
                        for (x, &y) in x.iter_mut().zip(y) {
                            failed |= F::fails(*x, y);
                            *x = F::at(*x, y);
                        }
                        failed
                    },
                )
            },
            one: |x, y| {
                wide::<T, _>(
                    #[inline(always)]
                    || {
                        let mut failed = false;
                        for x in x {
                            failed |= F::fails(*x, y);
                            *x = F::at(*x, y);
                        }
                        failed
                    },
                )
            },
        }
    }

    /// Computes the formula of every pair of elements in the memory of `x`; returns whether an element
    /// failed. Returns `None` if `x` is shared, or `y` is neither a scalar nor of the same shape. Most
    /// iterations of a loop take this path, which needs no broadcasting.
    fn in_place(&self, x: &mut Tensor, y: &Tensor) -> Result<Option<bool>> {
        let y = match y.as_slice::<T>()? {
            &[one] if y.rank() == 0 => Source::One(one),
            ys if x.shape() == y.shape() => Source::Whole(ys),
            _ => return Ok(None),
        };
        x.make_mut::<T>().map(|x| self.onto(x, &y)).transpose()
    }

    /// Computes the formula of every pair of elements, broadcast to `shape`; returns whether an element
    /// failed. The result uses the memory of an operand that has this shape and is not shared.
    pub(crate) fn map(&self, mut x: Tensor, mut y: Tensor, shape: &Shape) -> Result<(Tensor, bool)> {
        if x.shape() == shape
            && let Some(out) = x.make_mut::<T>()
        {
            let y = Source::new(y.as_slice::<T>()?, y.shape(), shape);
            let failed = self.onto(out, &y)?;
            return Ok((x, failed));
        }
        let xs = Source::new(x.as_slice::<T>()?, x.shape(), shape);
        if y.shape() == shape
            && let Some(out) = y.make_mut::<T>()
        {
            let (mut failed, mut pace) = (false, Pace::new());
            let mut tile = [T::default(); TILE];
            for (i, out) in out.chunks_mut(TILE).enumerate() {
                pace.spend(TILE)?;
                let y = &mut tile[..out.len()];
                y.copy_from_slice(out);
                xs.copy(i * TILE, out);
                failed |= (self.slice)(out, y);
            }
            return Ok((y, failed));
        }
        let mut out = Tensor::anything(T::DTYPE, shape.clone())?;
        let ys = Source::new(y.as_slice::<T>()?, y.shape(), shape);
        let (mut failed, mut pace) = (false, Pace::new());
        for (i, out) in fresh::<T>(&mut out)?.chunks_mut(TILE).enumerate() {
            pace.spend(TILE)?;
            xs.copy(i * TILE, out);
            failed |= self.tile(i * TILE, out, &ys);
        }
        Ok((out, failed))
    }

    // Computes x = f(x, y) over the whole output.
    fn onto(&self, x: &mut [T], y: &Source<T>) -> Result<bool> {
        let mut failed = false;
        match *y {
            Source::Whole(y) => {
                let n = x.len().min(y.len());
                paced(n, |range| failed |= (self.slice)(&mut x[range.clone()], &y[range]))?;
            }
            Source::One(y) => paced(x.len(), |range| failed |= (self.one)(&mut x[range], y))?,
            Source::Walk { .. } => {
                let mut pace = Pace::new();
                for (i, x) in x.chunks_mut(TILE).enumerate() {
                    pace.spend(TILE)?;
                    failed |= self.tile(i * TILE, x, y);
                }
            }
        }
        Ok(failed)
    }

    // Computes x = f(x, y) over the tile of the output that starts at `at`.
    fn tile(&self, at: usize, x: &mut [T], y: &Source<T>) -> bool {
        match *y {
            Source::Whole(y) => (self.slice)(x, y.get(at..).unwrap_or(&[])),
            Source::One(y) => (self.one)(x, y),
            Source::Walk { .. } => {
                let mut tile = [T::default(); TILE];
                let tile = &mut tile[..x.len()];
                y.copy(at, tile);
                (self.slice)(x, tile)
            }
        }
    }
}

impl<T: Lane, O: Element> Merge<T, O> {
    pub(crate) const fn of<F: Binary<T, Out = O>>() -> Self {
        Merge(|out, x, y| {
            wide::<T, _>(
                #[inline(always)]
                || {
                    let mut failed = false;
                    for (out, (&x, &y)) in out.iter_mut().zip(x.iter().zip(y)) {
                        failed |= F::fails(x, y);
                        *out = F::at(x, y);
                    }
                    failed
                },
            )
        })
    }

    /// Computes the formula of every pair of elements, broadcast to `shape`; returns whether an element
    /// failed.
    pub(crate) fn map(&self, x: &Tensor, y: &Tensor, shape: &Shape) -> Result<(Tensor, bool)> {
        let mut out = Tensor::anything(O::DTYPE, shape.clone())?;
        let xs = Source::new(x.as_slice::<T>()?, x.shape(), shape);
        let ys = Source::new(y.as_slice::<T>()?, y.shape(), shape);
        let to = fresh::<O>(&mut out)?;
        if let (Source::Whole(x), Source::Whole(y)) = (&xs, &ys) {
            let mut failed = false;
            paced(x.len(), |range| {
                failed |= (self.0)(&mut to[range.clone()], &x[range.clone()], &y[range]);
            })?;
            return Ok((out, failed));
        }
        // Clearing whole tiles takes longer than computing a few elements.
        let failed = match to.len() <= FEW {
            true => self.tiles::<FEW>(to, &xs, &ys)?,
            false => self.tiles::<TILE>(to, &xs, &ys)?,
        };
        Ok((out, failed))
    }

    // Computes the formula tile by tile; returns whether an element failed.
    fn tiles<const N: usize>(&self, to: &mut [O], xs: &Source<T>, ys: &Source<T>) -> Result<bool> {
        let (mut x_tile, mut y_tile) = ([T::default(); N], [T::default(); N]);
        let (mut failed, mut pace) = (false, Pace::new());
        for (i, to) in to.chunks_mut(N).enumerate() {
            pace.spend(N)?;
            let (n, at) = (to.len(), i * N);
            failed |= (self.0)(to, xs.tile(at, n, &mut x_tile), ys.tile(at, n, &mut y_tile));
        }
        Ok(failed)
    }
}

/// The number of elements computed at a time if an operand has to be broadcast into a buffer first. A tile of
/// the widest type is 4 KiB, so all tiles stay in the first-level cache.
pub(crate) const TILE: usize = 256;

/// The most elements for which a small tile is enough.
const FEW: usize = 16;

/// An operand, indexed by the elements of the output.
pub(crate) enum Source<'a, T> {
    /// An operand of the output's shape.
    Whole(&'a [T]),
    /// A single element.
    One(T),
    /// An operand that is repeated along some axes.
    Walk { data: &'a [T], spread: Spread },
}

impl<'a, T: Copy> Source<'a, T> {
    /// Returns an operand of shape `own`, which must broadcast to `shape`.
    pub(crate) fn new(data: &'a [T], own: &Shape, shape: &Shape) -> Source<'a, T> {
        if own == shape {
            return Source::Whole(data);
        }
        if let &[one] = data {
            return Source::One(one);
        }
        Source::Walk { data, spread: Spread::new(own, shape) }
    }

    /// Copies the elements for `at..at + out.len()` of the output.
    pub(crate) fn copy(&self, at: usize, out: &mut [T]) {
        match self {
            Source::Whole(data) => {
                if let Some(data) = data.get(at..at + out.len()) {
                    out.copy_from_slice(data);
                }
            }
            Source::One(v) => out.fill(*v),
            Source::Walk { data, spread } => spread.copy(data, at, out),
        }
    }

    /// As [`Source::copy`], but elements that are already contiguous are borrowed.
    pub(crate) fn tile<'t>(&'t self, at: usize, n: usize, tile: &'t mut [T]) -> &'t [T] {
        if let Source::Whole(data) = self {
            return data.get(at..at + n).unwrap_or(&[]);
        }
        let tile = &mut tile[..n];
        self.copy(at, tile);
        tile
    }
}

/// Returns the elements of a new tensor.
pub(crate) fn fresh<T: Element>(out: &mut Tensor) -> Result<&mut [T]> {
    out.make_mut::<T>().ok_or_else(|| Error::internal("a fresh tensor is shared"))
}

/// Returns the broadcast shape of `x` and `y`, which are or were inputs 0 and 1.
pub(crate) fn broadcast(cx: &KernelCx, x: &Tensor, y: &Tensor) -> Result<Shape> {
    let (x, y) = (x.shape(), y.shape());
    if y.rank() == 0 {
        return Ok(x.clone());
    }
    if x.rank() == 0 {
        return Ok(y.clone());
    }
    x.broadcast(y).ok_or_else(|| {
        invalid!(
            "Incompatible shapes: {x} vs. {y}";
            "{}: shapes {x} of `{}` and {y} of `{}` do not broadcast",
            cx.node.op.name,
            cx.name_of(0),
            cx.name_of(1)
        )
        .with_help("dimensions must be equal, or one of them 1, counted from the last")
    })
}

/// Kernels, by formula and element type.
pub(crate) mod run {
    use super::*;

    /// `y = f(x)` with one type.
    pub(crate) fn unary<T: Lane, F: Unary<T, Out = T>>(cx: &mut KernelCx) -> Result<()> {
        let x = cx.take(0);
        let y = const { &Each::of::<F>() }.map(x)?;
        cx.set(0, y);
        Ok(())
    }

    /// `y = f(x)` with an output of another type.
    pub(crate) fn turn<T: Lane, F: Unary<T, Out: Element>>(cx: &mut KernelCx) -> Result<()> {
        let y = const { &Turn::of::<F>() }.map(cx.input(0))?;
        cx.set(0, y);
        Ok(())
    }

    /// `z = f(x, y)` with one type.
    pub(crate) fn binary<T: Lane, F: Binary<T, Out = T>>(cx: &mut KernelCx) -> Result<()> {
        let pair = const { &Pair::of::<F>() };
        let (mut x, y) = (cx.take(0), cx.take(1));
        if let Some(failed) = pair.in_place(&mut x, &y)? {
            return set(cx, x, failed, F::FAILURE);
        }
        let shape = broadcast(cx, &x, &y)?;
        let (z, failed) = pair.map(x, y, &shape)?;
        set(cx, z, failed, F::FAILURE)
    }

    /// `z = f(x, y)` with an output of another type.
    pub(crate) fn merge<T: Lane, F: Binary<T, Out: Element>>(cx: &mut KernelCx) -> Result<()> {
        let (x, y) = (cx.input(0), cx.input(1));
        let (z, failed) = const { &Merge::of::<F>() }.map(x, y, &broadcast(cx, x, y)?)?;
        set(cx, z, failed, F::FAILURE)
    }

    fn set(cx: &mut KernelCx, value: Tensor, failed: bool, failure: Failure) -> Result<()> {
        if failed {
            return Err(failure.error(cx.node.op.name));
        }
        cx.set(0, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
