//! What the candidate samplers share: the declaration, the draw, and the expected counts.
//!
//! A run reserves 2048 words of 32 bits of the node's stream for each candidate, as in TensorFlow.

use crate::shared::philox::{Stream, WORDS, Words};
use millstream_graph::op::spec::{AtLeast, Bool, Int, Spec};
use millstream_graph::op::{InferCx, KernelCx, OpDef};
use millstream_tensor::DType::{F32, I64};
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid};
use std::collections::HashSet;

/// How a sampler draws a class, and how probable a class is.
pub(super) trait Classes {
    fn draw(&self, words: &mut Words) -> i64;
    fn probability(&self, class: i64) -> Result<f32>;
    /// The number of classes that can be drawn.
    fn number(&self) -> usize;
}

/// Declares a sampler, but for its range.
pub(super) fn sampler(name: &'static str) -> OpDef {
    OpDef::new(name)
        .input("true_classes", I64)
        .output("sampled_candidates", I64)
        .output("true_expected_count", F32)
        .output("sampled_expected_count", F32)
        .attr("num_true", AtLeast(1))
        .attr("num_sampled", AtLeast(1))
        .attr("unique", Bool)
        .attr("seed", Int.or(0))
        .attr("seed2", Int.or(0))
        .infer(infer)
}

/// The number of candidates.
pub(super) fn sampled(attrs: &millstream_graph::Attrs) -> Result<usize> {
    let n = attrs.int("num_sampled")?;
    usize::try_from(n).map_err(|_| invalid!("`num_sampled` is {n}, and must not be negative"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let batch = infer_true_classes(cx)?.dim(0);
    let sampled = PartialShape::new([Some(sampled(cx.attrs())?)]);
    let columns = usize::try_from(cx.attrs().int("num_true")?).ok();
    cx.set(0, sampled.clone());
    cx.set(1, PartialShape::new([batch, columns]));
    cx.set(2, sampled);
    Ok(())
}

/// Checks the static shape of the true classes, and returns it.
pub(super) fn infer_true_classes(cx: &InferCx) -> Result<PartialShape> {
    let classes = cx.with_rank(0, 2)?;
    if let Some(given) = classes.dim(1) {
        check_columns(given, cx.attrs().int("num_true")?)?;
    }
    Ok(classes)
}

fn check_columns(given: usize, wanted: i64) -> Result<()> {
    ensure!(
        usize::try_from(wanted) == Ok(given),
        "true_classes must have num_true columns, expected: {given} was: {wanted}";
        "`true_classes` has {given} columns and `num_true` is {wanted}"
    );
    Ok(())
}

/// Reads the true classes, and checks their shape.
pub(super) fn true_classes(cx: &KernelCx) -> Result<Tensor> {
    let classes = cx.input(0);
    ensure!(
        classes.rank() == 2,
        "true_classes must be a matrix";
        "`true_classes` has shape {}: it must be `[batch, num_true]`", classes.shape()
    );
    check_columns(classes.shape()[1], cx.attrs().int("num_true")?)?;
    Ok(classes.clone())
}

/// Draws the candidates and sets the outputs.
pub(super) fn sample(cx: &mut KernelCx, stream: &Stream, classes: &impl Classes) -> Result<()> {
    let (truths, n) = (true_classes(cx)?, sampled(cx.attrs())?);
    let unique = cx.attrs().bool("unique")?;
    ensure!(
        !unique || n <= classes.number(),
        "Sampler's range is too small.";
        "{n} different classes cannot be drawn from {}: lower `num_sampled`, or let `unique` be false", classes.number()
    );
    let mut candidates = Tensor::zeros(I64, [n])?;
    let mut words = Words::new(stream.reserve((n as u64).wrapping_mul(2048 / WORDS as u64)));
    let mut pace = Pace::new();
    let mut tries = 0i32;
    if let Some(out) = candidates.make_mut::<i64>() {
        let _seen = Room::of(if unique { n.saturating_mul(3 * size_of::<i64>()) } else { 0 })?;
        let mut seen = HashSet::with_capacity(if unique { n } else { 0 });
        for out in out {
            *out = loop {
                pace.spend(8)?;
                tries = tries.saturating_add(1);
                let class = classes.draw(&mut words);
                if !unique || seen.insert(class) {
                    break class;
                }
            };
        }
    }
    let expected = |of: &Tensor| -> Result<Tensor> {
        let each = of.as_slice::<i64>()?.iter();
        let counts = Charged::try_of(each.map(|class| Ok(expected(classes.probability(*class)?, n, tries))))?;
        Tensor::from_iter(of.shape().clone(), counts.iter().copied())
    };
    let (of_truths, of_candidates) = (expected(&truths)?, expected(&candidates)?);
    cx.set(0, candidates);
    cx.set(1, of_truths);
    cx.set(2, of_candidates);
    Ok(())
}

/// The expected count of a class: the chance to be among the tries, unless every try counted.
fn expected(probability: f32, sampled: usize, tries: i32) -> f32 {
    if sampled == tries as usize {
        return probability * sampled as f32;
    }
    -(tries as f32 * (-probability).ln_1p()).exp_m1()
}

/// A number below `n`, from the next word.
pub(super) fn below(n: u32, words: &mut Words) -> u32 {
    let rest = (u32::MAX % n + 1) % n;
    loop {
        let word = words.word();
        if word <= u32::MAX - rest {
            return word % n;
        }
    }
}

/// A word of 64 bits: the lower half comes first.
pub(super) fn long(words: &mut Words) -> u64 {
    let low = u64::from(words.word());
    low | u64::from(words.word()) << 32
}
