//! `ParameterizedTruncatedNormal`: truncated normal floats with parameters for each row.
//!
//! The words are used as TensorFlow's kernel uses them on one thread, so the values are TensorFlow's. There
//! are three methods, after Robert, "Simulation of truncated normal variables" (1995). If the bounds leave
//! enough of the distribution, normal variables are redrawn; if they are close together, uniform ones; in a
//! tail, exponential ones.

use super::fill::{Sample, infer_shape, shape_of};
use crate::number::{FloatElement, no_kernel};
use crate::shared::philox::{Philox, Stream};
use millstream_graph::op::spec::{FloatType, IndexType, Int, Spec};
use millstream_graph::op::{BuildCx, Effect, Gradient, InferCx, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Error, Result, Tensor, ensure, invalid, with_element};
use num_traits::Float as _;

pub(crate) fn def() -> OpDef {
    OpDef::new("ParameterizedTruncatedNormal")
        .doc(
            "Draws floats from normal distributions truncated to `minvals..maxvals`. The parameters are \
             scalars, or have an entry for each row of the output. Each run continues the random stream of \
             the node, which starts from `seed` and `seed2`, or from random seeds if both are 0.",
        )
        .input("shape", "T")
        .on_host()
        .input("means", "dtype")
        .input("stdevs", "dtype")
        .input("minvals", "dtype")
        .input("maxvals", "dtype")
        .output("output", "dtype")
        .attr("seed", Int.or(0))
        .attr("seed2", Int.or(0))
        .attr("dtype", FloatType)
        .attr("T", IndexType)
        .infer(infer)
        .kernel(Kernel::build(Effect::Stateful, build))
        .gradient(Gradient::none("as in TensorFlow, samples count as constants"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    for i in 1..5 {
        cx.scalar_or_vector(i)?;
    }
    infer_shape(cx)
}

/// The number of rejections after which a sample is accepted anyway.
const MOST_TRIES: usize = 1000;

/// The work of a group of tries, in elements. Where hardly any is accepted, a sample takes a thousand.
const TRY: usize = 8;

/// The number of samples in a row if all parameters are scalars.
const ROW: usize = 100;

/// The distance of a bound from the mean, in standard deviations, from which normal variables are redrawn.
const WIDE: f64 = 1.3;

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let stream = Stream::of(cx)?;
    Ok(Box::new(move |cx: &mut KernelCx| {
        let shape = shape_of(cx, 0)?;
        let dtype = cx.input(1).dtype();
        let Some((&rows, rest)) = shape.split_first() else {
            return Err(invalid!("`shape` must have at least one dimension"));
        };
        let (mut rows, mut per_row) = (rows, rest.iter().product::<usize>());
        if (1..5).all(|i| cx.input(i).rank() == 0) {
            (rows, per_row) = (shape.elements().div_ceil(ROW), ROW);
        }
        for i in 1..5 {
            let t = cx.input(i);
            ensure!(
                t.rank() == 0 || t.rank() == 1 && (t.elements() == 1 || t.elements() == rows),
                "Input {} should have length 1 or shape[0], got shape: {}", cx.name_of(i), t.shape();
                "`{}` has shape {} but must be a scalar or have an entry for each of {rows} rows",
                cx.name_of(i),
                t.shape()
            );
        }
        let mut out = Tensor::zeros(dtype, shape)?;
        let tries = (rows as u64).wrapping_mul(2 * MOST_TRIES as u64);
        let philox = stream.reserve(tries.wrapping_mul(per_row as u64 + 3) / 4);
        with_element!(dtype, T in floats => fill::<T>(cx, philox, per_row, &mut out), else => Err(no_kernel("ParameterizedTruncatedNormal", dtype)))?;
        cx.set(0, out);
        Ok(())
    }))
}

fn fill<T: Sample + FloatElement>(
    cx: &KernelCx,
    mut philox: Philox,
    per_row: usize,
    out: &mut Tensor,
) -> Result<()> {
    let [mean, stdev, min, max] = [1, 2, 3, 4].map(|i| cx.input(i).as_slice::<T>());
    let (mean, stdev, min, max) = (mean?, stdev?, min?, max?);
    let of = |values: &[T], row: usize| values[if values.len() == 1 { 0 } else { row }];
    let cells = out.make_mut::<T>().ok_or_else(|| Error::internal("a fresh tensor is shared"))?;
    let mut pace = Pace::new();
    for (row, out) in cells.chunks_mut(per_row.max(1)).enumerate() {
        let parameters = [mean, stdev, min, max].map(|p| of(p, row).work());
        one_row(&mut philox, parameters, out, &mut pace)?;
    }
    Ok(())
}

/// Draws one row. The computation is in the dtype itself, or in f32 for half-precision floats.
fn one_row<T: Sample + FloatElement>(
    philox: &mut Philox,
    [mean, stdev, min, max]: [T::Work; 4],
    out: &mut [T],
    pace: &mut Pace,
) -> Result<()> {
    let lit = |v: f64| <T::Work as num_traits::NumCast>::from(v).unwrap_or_else(num_traits::Zero::zero);
    let (zero, two) = (lit(0.0), lit(2.0));
    ensure!(
        stdev > zero && min < max && (min.is_finite() || max.is_finite()),
        "Invalid parameters";
        "a deviation of {stdev:?} between {min:?} and {max:?} is no truncated normal distribution: the deviation must be positive, the bounds in \
         order, and one of them finite"
    );
    // Mirrored if necessary, so that a single finite bound is the lower one, and the bounds do not both lie
    // below the mean.
    let turned = (min.is_infinite() && min < zero) || max < mean;
    let (min, max, stdev) = if turned { (max, min, -stdev) } else { (min, max, stdev) };
    let (low, high) = ((min - mean) / stdev, (max - mean) / stdev);
    let root = (low * low + lit(4.0)).sqrt();
    let cutoff = two * (lit(0.5) + (low * (low - root)) / lit(4.0)).exp() / (low + root);
    let width = high - low;
    let mut samples = out.iter_mut();
    let Some(mut next) = samples.next() else { return Ok(()) };
    let mut tries = 0;
    // Accepts a sample or counts a rejection. Returns `None` once all samples are accepted.
    let mut offer = |z: T::Work, accept: bool| {
        if !accept && tries + 1 < MOST_TRIES {
            tries += 1;
            return Some(());
        }
        *next = T::of_work(z * stdev + mean);
        tries = 0;
        next = samples.next()?;
        Some(())
    };
    if (low < -lit(WIDE) && high >= zero) || (high > lit(WIDE) && low <= zero) {
        loop {
            pace.spend(TRY)?;
            let normals = T::normal(philox.step());
            for z in normals.iter().take(T::GROUP).map(|z| z.work()) {
                if offer(z, low <= z && z <= high).is_none() {
                    return Ok(());
                }
            }
        }
    }
    if width < cutoff {
        let plus = if low < zero { zero } else { low * low };
        loop {
            pace.spend(TRY)?;
            let (points, limits) = (T::uniform(philox.step()), T::uniform(philox.step()));
            for (z, limit) in points.iter().zip(&limits).take(T::GROUP) {
                let z = z.work() * width + low;
                if offer(z, limit.work() <= ((plus - z * z) / two).exp()).is_none() {
                    return Ok(());
                }
            }
        }
    }
    let alpha = (low + root) / two;
    loop {
        pace.spend(TRY)?;
        let words = T::uniform(philox.step());
        for pair in words[..T::GROUP].chunks_exact(2) {
            let z = -pair[0].work().ln() / alpha + low;
            let x = if low < alpha { alpha - z } else { low - alpha };
            if offer(z, pair[1].work() <= (-x * x / two).exp() && z < high).is_none() {
                return Ok(());
            }
        }
    }
}

cases! {
    knows_the_shape: "ParameterizedTruncatedNormal([2 3], f32[], f32[2], f32[], f32[]; seed=1) : f32[2,3]",
    bounds_in_order: "ParameterizedTruncatedNormal(i32[1] [2], 0.0, 1.0, 1.0, 1.0; seed=1) ! the bounds in order",
    positive: "ParameterizedTruncatedNormal(i32[1] [2], 0.0, -1.0, 0.0, 1.0; seed=1) ! the deviation must be positive",
    one_is_finite: "ParameterizedTruncatedNormal(i32[1] [2], 0.0, 1.0, -inf, inf; seed=1) ! one of them finite",
    an_entry_per_row: "ParameterizedTruncatedNormal([2 2], [0.0 1.0 2.0], 1.0, -1.0, 1.0; seed=1) ! an entry for each of 2 rows",
    scalars_or_vectors: "ParameterizedTruncatedNormal(i32[1], f32[2,2], f32[], f32[], f32[]; seed=1) ! `means` must be a scalar or a vector",
}
