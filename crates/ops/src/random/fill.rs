//! Tensors filled from a Philox stream: uniform, normal and truncated normal floats, and integers.
//!
//! Outputs form groups of the size that one step of the generator yields: four, or two of 64 bits. Group `g`
//! starts at step `g`, or, where samples may be rejected, at a step that reserves `RESERVED` words for each
//! output. Every group can therefore be computed alone, and the numbers are the same however the work is
//! divided.

use crate::shared::philox::{Philox, RESERVED, Stream, WORDS, Words, from_key, from_seed};
use millstream_graph::op::{BuildCx, InferCx, KernelCx, Run};
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, Element, Error, Result, Shape, Tensor, bf16, ensure, f16, invalid};

/// A float dtype, with the conversions from random words to its values.
pub(super) trait Sample: Element {
    /// The number of outputs of one step.
    const GROUP: usize;
    /// Returns uniform values in `[0, 1)`. Only the first `GROUP` entries are used.
    fn uniform(words: [u32; WORDS]) -> [Self; WORDS];
    /// Returns standard normal values. Only the first `GROUP` entries are used.
    fn normal(words: [u32; WORDS]) -> [Self; WORDS];
    /// Returns a pair of standard normal values, with `None` for those two or more standard deviations from
    /// zero.
    fn truncated(words: &mut Words) -> [Option<Self>; 2];
}

/// Returns a value in `[0, 1)`: the low bits of the word are the mantissa of a number in `[1, 2)`, from which
/// one is subtracted.
#[inline]
pub(super) fn unit_f32(word: u32) -> f32 {
    f32::from_bits(127 << 23 | (word & 0x7F_FFFF)) - 1.0
}

/// As [`unit_f32`], from two words, the more significant one first.
#[inline]
pub(super) fn unit_f64(high: u32, low: u32) -> f64 {
    f64::from_bits(1023 << 52 | u64::from(high & 0xF_FFFF) << 32 | u64::from(low)) - 1.0
}

/// The least uniform value used in the Box-Muller transform, which bounds the radius.
const LEAST: f64 = 1.0e-7;

/// Returns two independent normal values from two words, by the Box-Muller transform.
#[inline]
fn normals_f32(a: u32, b: u32) -> [f32; 2] {
    let u = unit_f32(a);
    let u = if u < LEAST as f32 { LEAST as f32 } else { u };
    // The angle is computed in double precision and rounded once.
    let angle = (2.0 * std::f64::consts::PI * f64::from(unit_f32(b))) as f32;
    let radius = (-2.0 * u.ln()).sqrt();
    [angle.sin() * radius, angle.cos() * radius]
}

/// As [`normals_f32`], from four words.
#[inline]
pub(super) fn normals_f64(w: [u32; WORDS]) -> [f64; 2] {
    let u = unit_f64(w[0], w[1]);
    let u = if u < LEAST { LEAST } else { u };
    let angle = 2.0 * std::f64::consts::PI * unit_f64(w[2], w[3]);
    let radius = (-2.0 * u.ln()).sqrt();
    [angle.sin() * radius, angle.cos() * radius]
}

macro_rules! sample_by_f32 {
    ($t:ty, |$w:ident| $uniform:expr, |$v:ident| $from:expr) => {
        impl Sample for $t {
            const GROUP: usize = 4;
            #[inline]
            fn uniform(words: [u32; WORDS]) -> [Self; WORDS] {
                words.map(|$w| $uniform)
            }
            #[inline]
            fn normal(w: [u32; WORDS]) -> [Self; WORDS] {
                let ([a, b], [c, d]) = (normals_f32(w[0], w[1]), normals_f32(w[2], w[3]));
                [a, b, c, d].map(|$v| $from)
            }
            #[inline]
            fn truncated(words: &mut Words) -> [Option<Self>; 2] {
                let (a, b) = (words.word(), words.word());
                normals_f32(a, b).map(|$v| if $v.abs() < 2.0 { Some($from) } else { None })
            }
        }
    };
}
sample_by_f32!(f32, |w| unit_f32(w), |v| v);
sample_by_f32!(f16, |w| f16::from_f32(f16::from_bits(15 << 10 | (w as u16 & 0x3FF)).to_f32() - 1.0), |v| {
    f16::from_f32(v)
});
sample_by_f32!(bf16, |w| bf16::from_f32(bf16::from_bits(127 << 7 | (w as u16 & 0x7F)).to_f32() - 1.0), |v| {
    bf16::from_f32(v)
});

impl Sample for f64 {
    const GROUP: usize = 2;
    #[inline]
    fn uniform(w: [u32; WORDS]) -> [Self; WORDS] {
        [unit_f64(w[0], w[1]), unit_f64(w[2], w[3]), 0.0, 0.0]
    }
    #[inline]
    fn normal(w: [u32; WORDS]) -> [Self; WORDS] {
        let [a, b] = normals_f64(w);
        [a, b, 0.0, 0.0]
    }
    #[inline]
    fn truncated(words: &mut Words) -> [Option<Self>; 2] {
        let w = std::array::from_fn(|_| words.word());
        normals_f64(w).map(|v| if v.abs() < 2.0 { Some(v) } else { None })
    }
}

/// The distribution of random floats.
#[derive(Clone, Copy)]
pub(super) enum Law {
    /// Uniform in `[0, 1)`.
    Uniform,
    /// Standard normal.
    Normal,
    /// Standard normal, redrawn if two or more standard deviations from zero.
    Truncated,
}

/// Returns a tensor of floats drawn from the distribution `law`.
pub(super) fn floats(law: Law, dtype: DType, shape: Shape, philox: Philox) -> Result<Tensor> {
    match dtype {
        DType::F16 => draw::<f16>(law, shape, philox),
        DType::BF16 => draw::<bf16>(law, shape, philox),
        DType::F32 => draw::<f32>(law, shape, philox),
        DType::F64 => draw::<f64>(law, shape, philox),
        other => Err(invalid!("random floats have no dtype {other}")),
    }
}

fn draw<T: Sample>(law: Law, shape: Shape, philox: Philox) -> Result<Tensor> {
    match law {
        Law::Uniform => by_step(shape, T::GROUP, philox, T::uniform),
        Law::Normal => by_step(shape, T::GROUP, philox, T::normal),
        Law::Truncated => {
            let apart = RESERVED * T::GROUP as u64 / WORDS as u64;
            by_group(shape, T::GROUP, |group, out| {
                let mut words = Words::new(philox.ahead((group as u64).wrapping_mul(apart)));
                let mut values = std::iter::from_fn(|| Some(T::truncated(&mut words))).flatten().flatten();
                out.iter_mut().zip(&mut values).for_each(|(o, v)| *o = v);
            })
        }
    }
}

/// Computes each group of outputs from one step.
fn by_step<T: Element>(
    shape: Shape,
    group: usize,
    mut philox: Philox,
    sample: impl Fn([u32; WORDS]) -> [T; WORDS],
) -> Result<Tensor> {
    by_group(shape, group, |_, out| {
        let values = sample(philox.step());
        out.iter_mut().zip(values).for_each(|(o, v)| *o = v);
    })
}

fn by_group<T: Element>(shape: Shape, group: usize, mut fill: impl FnMut(usize, &mut [T])) -> Result<Tensor> {
    let mut result = Tensor::zeros(T::DTYPE, shape)?;
    let out = result.make_mut::<T>().ok_or_else(|| Error::internal("a fresh tensor is shared"))?;
    let mut pace = Pace::new();
    for (g, out) in out.chunks_mut(group).enumerate() {
        pace.spend(group)?;
        fill(g, out);
    }
    Ok(result)
}

/// Returns integers in `low..high`, which are scalars of the output's dtype. As in TensorFlow, each is the
/// remainder of a word (two for 64 bits) divided by the width of the range, so large ranges are not exactly
/// uniform.
pub(super) fn ints(low: &Tensor, high: &Tensor, shape: Shape, philox: Philox) -> Result<Tensor> {
    ensure!(low.rank() == 0, "minval must be 0-D, got shape {}", low.shape(); "`minval` must be a scalar");
    ensure!(high.rank() == 0, "maxval must be 0-D, got shape {}", high.shape(); "`maxval` must be a scalar");
    macro_rules! within {
        ($t:ty, $unsigned:ty, $group:literal, $words:ident) => {{
            let (low, high) = (low.to_scalar::<$t>()?, high.to_scalar::<$t>()?);
            // An empty output has no value that could be out of range.
            ensure!(
                low < high || shape.elements() == 0,
                "Need minval < maxval, got {low} >= {high}";
                "`minval` is {low} but must be less than `maxval`, {high}"
            );
            let width = (high as $unsigned).wrapping_sub(low as $unsigned);
            by_step(shape, $group, philox, |w| $words(w).map(|v| low.wrapping_add((v % width) as $t)))
        }};
    }
    match low.dtype() {
        DType::I32 => within!(i32, u32, 4, words32),
        DType::U32 => within!(u32, u32, 4, words32),
        DType::I64 => within!(i64, u64, 2, words64),
        DType::U64 => within!(u64, u64, 2, words64),
        other => Err(invalid!("random integers have no dtype {other}")),
    }
}

/// Returns integers that are uniform over all values of their dtype.
pub(super) fn all_ints(dtype: DType, shape: Shape, philox: Philox) -> Result<Tensor> {
    match dtype {
        DType::I32 => by_step(shape, 4, philox, |w| w.map(|v| v as i32)),
        DType::U32 => by_step(shape, 4, philox, words32),
        DType::I64 => by_step(shape, 2, philox, |w| words64(w).map(|v| v as i64)),
        DType::U64 => by_step(shape, 2, philox, words64),
        other => Err(invalid!("random integers have no dtype {other}")),
    }
}

fn words32(w: [u32; WORDS]) -> [u32; WORDS] {
    w
}

fn words64(w: [u32; WORDS]) -> [u64; WORDS] {
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    [pair(w[0], w[1]), pair(w[2], w[3]), 0, 0]
}

/// Returns input `i` as the shape of the output.
pub(super) fn shape_of(cx: &KernelCx, i: usize) -> Result<Shape> {
    let t = cx.input(i);
    ensure!(t.rank() == 1, "shape must be a vector of {{int32,int64}}, got shape {}", t.shape(); "`{}` must be a vector but has shape {}", cx.name_of(i), t.shape());
    let shape = Shape::from_signed(&cx.ints(i)?)?;
    shape.checked_elements()?;
    Ok(shape)
}

/// Output 0 has the shape given by input 0.
pub(super) fn infer_shape(cx: &mut InferCx) -> Result<()> {
    cx.vector(0)?;
    let shape = cx.as_shape(0)?;
    cx.set(0, shape);
    Ok(())
}

/// As [`infer_shape`], and input 1 is a seed of two integers.
pub(super) fn infer_shape_and_seed(cx: &mut InferCx) -> Result<()> {
    infer_shape(cx)?;
    check_seed(cx, 1)
}

/// Checks that input `i` can be a seed of two integers.
pub(super) fn check_seed(cx: &InferCx, i: usize) -> Result<()> {
    let length = cx.vector(i)?;
    ensure!(
        length.is_none_or(|n| n == 2),
        "Dimension must be 2 but is {}", length.unwrap_or(0);
        "`{}` must be two integers but has shape {}",
        cx.name_of(i),
        cx.input(i)
    );
    Ok(())
}

/// As [`infer_shape`], and inputs 1, 2 and 3 are key, counter and algorithm.
pub(super) fn infer_shape_and_key(cx: &mut InferCx) -> Result<()> {
    infer_shape(cx)?;
    cx.vector(1)?;
    cx.vector(2)?;
    cx.scalar(3)
}

/// Returns the kernel of an op that draws floats from its node's stream.
pub(super) fn build_floats(cx: &BuildCx, law: Law) -> Result<Box<dyn Run>> {
    let stream = Stream::of(cx)?;
    let dtype = cx.node.attrs.dtype("dtype")?;
    Ok(Box::new(move |cx: &mut KernelCx| {
        let shape = shape_of(cx, 0)?;
        let philox = stream.reserve_outputs(shape.elements());
        cx.set(0, floats(law, dtype, shape, philox)?);
        Ok(())
    }))
}

/// Computes output 0 of an op that draws floats from the seed in input 1.
pub(super) fn run_seeded_floats(cx: &mut KernelCx, law: Law) -> Result<()> {
    let value = floats(law, cx.attrs().dtype("dtype")?, shape_of(cx, 0)?, from_seed(cx, 1)?)?;
    cx.set(0, value);
    Ok(())
}

/// Computes output 0 of an op that draws floats from the key, counter and algorithm in inputs 1, 2 and 3.
pub(super) fn run_keyed_floats(cx: &mut KernelCx, law: Law) -> Result<()> {
    let value = floats(law, cx.attrs().dtype("dtype")?, shape_of(cx, 0)?, from_key(cx)?)?;
    cx.set(0, value);
    Ok(())
}
