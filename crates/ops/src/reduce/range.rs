//! `Range`: a sequence of numbers with a constant step.

use crate::number::{Num, Number, RealElement, no_kernel};
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, Known, Meaning, OpDef};
use millstream_tensor::DType::{self, *};
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("Range")
        .doc(
            "Returns the numbers `start`, `start + delta`, `start + 2 delta` and so on, up to but not \
             including `limit`.",
        )
        .input("start", "Tidx")
        .on_host()
        .input("limit", "Tidx")
        .on_host()
        .input("delta", "Tidx")
        .on_host()
        .output("output", "Tidx")
        .attr("Tidx", OneOf(&[F16, BF16, F32, F64, I8, I16, I32, I64, U16, U32, U64]).or(I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .means(Meaning::Range)
        .gradient(Gradient::none("its length depends on the numbers"))
}

/// The largest range of integers whose values are propagated while a graph is built. Such ranges are axes and
/// permutations.
const KNOWN: usize = 64;

fn infer(cx: &mut InferCx) -> Result<()> {
    (0..3).try_for_each(|i| cx.scalar(i).map_err(|e| e.more(&format!("\n\t for '{}'", cx.name_of(i)))))?;
    let (Some(start), Some(limit), Some(delta)) = (cx.value(0), cx.value(1), cx.value(2)) else {
        // Integers may be known without being values, such as the rank of an edge.
        if let (Some(start), Some(limit), Some(delta)) = (cx.int(0), cx.int(1), cx.int(2)) {
            let n = count(start as i128, limit as i128, delta as i128).map_err(|e| built(e, delta as f64))?;
            cx.set(0, [n]);
        } else {
            cx.set(0, PartialShape::unknown_of_rank(1));
        }
        return Ok(());
    };
    let dtype = cx.dtype(0);
    let n = with_element!(dtype, T in [F16 F32 F64 BF16 I8 I16 I32 I64 U16 U32 U64] => T::steps(start.to_scalar()?, limit.to_scalar()?, delta.to_scalar()?), else => Err(no_kernel("Range", dtype)))
        .map_err(|e| if e.message().starts_with(NO_STEP) { built(e, 0.0) } else { e })?;
    match n <= KNOWN && dtype.is_integer() {
        true => cx.set_known(0, Known::Value(range(dtype, start, limit, delta)?)),
        false => cx.set(0, [n]),
    }
    Ok(())
}

/// The beginning of TensorFlow's message for a step of 0.
const NO_STEP: &str = "Requires delta != 0";

/// Removes the step from TensorFlow's message, which does not name it while a graph is built.
fn built(error: millstream_tensor::Error, delta: f64) -> millstream_tensor::Error {
    if delta == 0.0 { error.led_by(NO_STEP) } else { error }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    for i in 0..3 {
        let t = cx.input(i);
        ensure!(
            t.rank() == 0,
            "{} must be a scalar, not shape {}",
            cx.name_of(i),
            t.shape();
            "`{}` must be a scalar but has shape {}",
            cx.name_of(i),
            t.shape()
        );
    }
    let out = range(cx.input(0).dtype(), cx.input(0), cx.input(1), cx.input(2))?;
    cx.set(0, out);
    Ok(())
}

fn range(dtype: DType, start: &Tensor, limit: &Tensor, delta: &Tensor) -> Result<Tensor> {
    with_element!(dtype, T in [F16 F32 F64 BF16 I8 I16 I32 I64 U16 U32 U64] => {
        let (start, limit, delta) = (start.to_scalar::<T>()?, limit.to_scalar::<T>()?, delta.to_scalar::<T>()?);
        let n = T::steps(start, limit, delta)?;
        Tensor::from_iter([n], (0..n).map(|i| start.at(delta, i)))
    }, else => Err(no_kernel("Range", dtype)))
}

/// An element type of ranges.
trait Steps: RealElement {
    /// Returns the number of steps from `start` to before `limit`.
    fn steps(start: Self, limit: Self, delta: Self) -> Result<usize>;
    /// Returns `self + i delta`.
    fn at(self, delta: Self, i: usize) -> Self;
}

/// Returns the number of steps of an integer range.
fn count(start: i128, limit: i128, delta: i128) -> Result<usize> {
    direction(start, limit, delta, 0)?;
    let n = (limit - start).unsigned_abs().div_ceil(delta.unsigned_abs());
    usize::try_from(n).ok().filter(|n| *n <= i64::MAX as usize).ok_or_else(|| too_many(n as f64))
}

fn direction<T: PartialOrd + std::fmt::Display>(start: T, limit: T, delta: T, zero: T) -> Result<()> {
    if delta > zero {
        ensure!(start <= limit, "Requires start <= limit when delta > 0: {start}/{limit}"; "a range with a positive `delta` of {delta} cannot go from {start} to {limit}");
    } else {
        ensure!(delta < zero, "Requires delta != 0: {delta}"; "`delta` is {delta} but must be positive or negative");
        ensure!(start >= limit, "Requires start >= limit when delta < 0: {start}/{limit}"; "a range with a negative `delta` of {delta} cannot go from {start} to {limit}");
    }
    Ok(())
}

fn too_many(n: f64) -> millstream_tensor::Error {
    invalid!("a range of {n} numbers is too large")
}

macro_rules! int_steps {
    ($($t:ty),*) => { $(
        impl Steps for $t {
            fn steps(start: Self, limit: Self, delta: Self) -> Result<usize> {
                count(start as i128, limit as i128, delta as i128)
            }
            fn at(self, delta: Self, i: usize) -> Self {
                self.add(delta.mul(<$t as Number>::count(i)))
            }
        }
    )* };
}
int_steps!(i8, i16, i32, i64, u16, u32, u64);

macro_rules! float_steps {
    ($($t:ty: $to:expr, $from:expr);*) => { $(
        impl Steps for $t {
            fn steps(start: Self, limit: Self, delta: Self) -> Result<usize> {
                direction(start, limit, delta, <$t as Number>::ZERO)?;
                // The division has the element type's precision: 0.3 / 0.1 is 3 in f32, but more for the same
                // numbers in f64.
                let n: f64 = $to((limit - start) / delta);
                let n = n.abs().ceil();
                ensure!(n < i64::MAX as f64, "a range from {start} to {limit} in steps of {delta} has no end");
                Ok(n as usize)
            }
            fn at(self, delta: Self, i: usize) -> Self {
                self + delta * $from(i)
            }
        }
    )* };
}
use millstream_tensor::{bf16, f16};
float_steps! {
    f32: f64::from, |i| i as f32;
    f64: f64::from, |i| i as f64;
    f16: f64::from, |i| f16::from_f32(i as f32);
    bf16: f64::from, |i| bf16::from_f32(i as f32)
}

cases! {
    counts: "Range(0, 5, 2) = [0 2 4]",
    stops_before_the_limit: "Range(0, 4, 2) = [0 2]",
    counts_down: "Range(3, 0, -1) = [3 2 1]",
    floats: "Range(0.0, 1.0, 0.25) = [0.0 0.25 0.5 0.75]",
    floats_do_not_drift: "Range(0.0, 1.0, 0.1) = [0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.90000004]",
    nothing: "Range(3, 3, 1) = i32[0] []",
    count_is_known: "Range(i32[], i32[], i32[]) : i32[?]",
    shape: "Range(0, 10, 3) : i32[4]",
    delta_is_not_zero: "Range(0, 5, 0) ! `delta` is 0",
    direction: "Range(0, 5, -1) ! cannot go from 0 to 5",
    no_nan: "Range(nan, 5.0, 1.0) ! cannot go from NaN",
    no_end: "Range(0.0, 1e30, 1e-30) ! has no end",
}
