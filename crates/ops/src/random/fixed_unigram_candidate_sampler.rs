//! `FixedUnigramCandidateSampler`: classes drawn with given probabilities.

use super::candidates::{Classes, below, sample, sampler};
use crate::shared::philox::{Stream, Words};
use millstream_graph::op::spec::{AtLeast, Float, FloatList, Int, Spec, Text};
use millstream_graph::op::{BuildCx, Effect, Kernel, KernelCx, OpDef, Run};
use millstream_graph::{Attr, Attrs};
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::{Result, ensure, invalid};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;

pub(crate) fn def() -> OpDef {
    sampler("FixedUnigramCandidateSampler")
        .doc(
            "As `UniformCandidateSampler`, but with probabilities in proportion to counts, raised to the power \
             `distortion`. The counts are `unigrams`, or those of the file `vocab_file`, which has a line of \
             comma-separated values for each class, the count last. The file is read in the first run. The \
             classes before `num_reserved_ids` are never drawn. Of `num_shards` parts, part `shard` has the \
             classes whose number has the remainder `shard`.",
        )
        .attr("range_max", AtLeast(1))
        .attr("vocab_file", Text.or(""))
        .attr("distortion", Float.or(1.0f32))
        .attr("num_reserved_ids", Int.or(0))
        .attr("num_shards", AtLeast(1).or(1))
        .attr("shard", AtLeast(0).or(0))
        .attr("unigrams", FloatList.or(Attr::List(Vec::new())))
        .kernel(Kernel::build(Effect::Stateful, build))
}

/// Classes with weights, and the tables of Walker's alias method.
struct Unigrams {
    weights: Vec<f32>,
    total: f32,
    /// The chance of an entry to stay itself when drawn, and what it becomes otherwise.
    table: Vec<(f32, u32)>,
    range: i64,
    shards: i64,
    shard: i64,
    drawable: usize,
    _room: Room,
}

impl Classes for Unigrams {
    fn draw(&self, words: &mut Words) -> i64 {
        let unit = (words.word() & 0x7F_FFFF) as f32 * 0.5f32.powi(23);
        let first = below(self.table.len() as u32, words);
        let (chance, other) = self.table[first as usize];
        let place = if unit < chance { first } else { other };
        i64::from(place) * self.shards + self.shard
    }

    fn probability(&self, class: i64) -> Result<f32> {
        ensure!(
            (0..self.range).contains(&class),
            "`true_classes` has the class {class}, which is not in 0..{}, the range of `range_max`",
            self.range
        );
        if class % self.shards != self.shard {
            return Ok(0.0);
        }
        Ok(self.weights.get((class / self.shards) as usize).copied().unwrap_or(0.0) / self.total)
    }

    fn number(&self) -> usize {
        self.drawable
    }
}

impl Unigrams {
    fn read(cx: &KernelCx) -> Result<Unigrams> {
        let attrs = cx.attrs();
        let file = attrs.str("vocab_file")?;
        let given = attrs.floats("unigrams")?;
        ensure!(
            file.is_empty() != given.is_empty(),
            "Must provide either vocab_file or unigrams.";
            "`vocab_file` is `{}`, and `unigrams` has {} counts", file.text(), given.len()
        );
        if file.is_empty() {
            return Unigrams::of(attrs, given.len(), |i| Ok(given[i]));
        }
        let text = cx.files().read(Path::new(&*file.text()))?;
        // The bytes, and a copy if they are not all UTF-8.
        let _text = Room::of(text.len().saturating_mul(2))?;
        let text = String::from_utf8_lossy(&text);
        let lines = Charged::of(text.lines().filter(|line| !line.is_empty()))?;
        Unigrams::of(attrs, lines.len(), |i| {
            let count = lines[i].rsplit(',').next().unwrap_or_default().trim();
            count.parse().map_err(|_| {
                invalid!("Wrong vocabulary format at line: {}", lines[i]; "in `{}`, the last value of a line must be a count", file.text())
            })
        })
    }

    fn of(attrs: &Attrs, n: usize, count: impl Fn(usize) -> Result<f32>) -> Result<Unigrams> {
        let [range, shards, shard, reserved] =
            ["range_max", "num_shards", "shard", "num_reserved_ids"].map(|name| attrs.int(name));
        let (range, shards, shard, reserved) = (range?, shards?.max(1), shard?, reserved?.max(0));
        let distortion = attrs.float("distortion")?;
        ensure!(shard < shards, "`shard` is {shard}, and must be less than `num_shards`, {shards}");
        let all = (reserved as u64).saturating_add(n as u64);
        ensure!(
            all == range as u64 || shards > 1 && all < range as u64,
            "`range_max` is {range}, but there are counts of {all} classes"
        );
        let own = (all.saturating_sub(shard as u64)).div_ceil(shards as u64) as usize;
        ensure!(0 < own, "part {shard} of {shards} has none of {all} classes");
        let room = Room::of(own.saturating_mul(40))?;
        let class = |i: usize| i as u64 * shards as u64 + shard as u64;
        let weight = |i: usize| match class(i).checked_sub(reserved as u64) {
            Some(place) => Ok(count(place as usize)?.powf(distortion)),
            None => Ok(0.0),
        };
        let weights = (0..own).map(weight).collect::<Result<Vec<f32>>>()?;
        let total: f32 = weights.iter().sum();
        ensure!(
            0.0 < total && total.is_finite() && weights.iter().all(|w| 0.0 <= *w),
            "the counts of the classes must not be negative, and not all 0; their sum is {total}"
        );
        let drawable = weights.iter().filter(|w| 0.0 < **w).count();
        let table = table(&weights);
        Ok(Unigrams { weights, total, table, range, shards, shard, drawable, _room: room })
    }
}

/// The tables, with classes paired from the back as TensorFlow pairs them.
fn table(weights: &[f32]) -> Vec<(f32, u32)> {
    let n = weights.len();
    let sum: f64 = weights.iter().map(|w| f64::from(*w)).sum();
    let mut chances: Vec<f64> = weights.iter().map(|w| f64::from(*w * n as f32) / sum).collect();
    let mut others: Vec<u32> = (0..n as u32).collect();
    let (mut low, mut high): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| chances[*i] < 1.0);
    while let (Some(&l), Some(&h)) = (low.last(), high.last()) {
        low.pop();
        high.pop();
        others[l] = h as u32;
        chances[h] -= 1.0 - chances[l];
        if chances[h] < 1.0 { low.push(h) } else { high.push(h) }
    }
    low.into_iter().chain(high).for_each(|i| chances[i] = 1.0);
    chances.into_iter().zip(others).map(|(chance, other)| (chance as f32, other)).collect()
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let stream = Stream::of(cx)?;
    let read: Mutex<Option<Arc<Unigrams>>> = Mutex::new(None);
    Ok(Box::new(move |cx: &mut KernelCx| {
        let known = read.lock().clone();
        let classes = match known {
            Some(classes) => classes,
            None => {
                let classes = Arc::new(Unigrams::read(cx)?);
                *read.lock() = Some(classes.clone());
                classes
            }
        };
        sample(cx, &stream, &*classes)
    }))
}

cases! {
    the_only_class: "FixedUnigramCandidateSampler(i64 [[1 0]]; num_true=2, num_sampled=2, unique=false, range_max=2, unigrams={0.0, 3.0}, seed=1) = i64[2] [1 1], [[2.0 0.0]], [2.0 2.0]",
    reserved: "FixedUnigramCandidateSampler(i64 [[1]]; num_true=1, num_sampled=1, unique=true, range_max=2, num_reserved_ids=1, unigrams={3.0}, seed=1) = i64[1] [1], [[1.0]], [1.0]",
    a_part: "FixedUnigramCandidateSampler(i64 [[0]]; num_true=1, num_sampled=2, unique=false, range_max=2, num_shards=2, shard=1, unigrams={5.0, 3.0}, seed=1) = i64[2] [1 1], [[0.0]], [2.0 2.0]",
    shapes: "FixedUnigramCandidateSampler(i64[?,2]; num_true=2, num_sampled=3, unique=true, range_max=9) : i64[3], f32[?,2], f32[3]",
    counts: "FixedUnigramCandidateSampler(i64 [[0]]; num_true=1, num_sampled=2, unique=false, range_max=2) ! Must provide either vocab_file or unigrams.",
    of_each_class: "FixedUnigramCandidateSampler(i64 [[0]]; num_true=1, num_sampled=2, unique=false, range_max=3, unigrams={1.0, 2.0}) ! `range_max` is 3, but there are counts of 2 classes",
    enough_classes: "FixedUnigramCandidateSampler(i64 [[0]]; num_true=1, num_sampled=2, unique=true, range_max=2, unigrams={1.0, 0.0}) ! 2 different classes cannot be drawn from 1",
    no_negative_counts: "FixedUnigramCandidateSampler(i64 [[0]]; num_true=1, num_sampled=1, unique=true, range_max=2, unigrams={1.0, -1.0}) ! must not be negative",
    file: "FixedUnigramCandidateSampler(i64 [[0]]; num_true=1, num_sampled=1, unique=true, range_max=2, vocab_file=\"/nowhere/a\") ! cannot read `/nowhere/a`",
    a_class_of_its: "FixedUnigramCandidateSampler(i64 [[7]]; num_true=1, num_sampled=1, unique=true, range_max=2, unigrams={1.0, 1.0}) ! which is not in 0..2",
}
