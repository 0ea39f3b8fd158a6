//! `LearnedUnigramCandidateSampler`, `ThreadUnsafeUnigramCandidateSampler`: classes drawn as often as they
//! were seen.

use super::candidates::{Classes, below, sample, sampler};
use crate::shared::philox::{Stream, Words};
use millstream_graph::op::spec::AtLeast;
use millstream_graph::op::{BuildCx, Effect, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Opaque, Result, invalid};
use parking_lot::Mutex;

pub(crate) fn def() -> [OpDef; 2] {
    let learned = |name, doc| {
        sampler(name).doc(doc).attr("range_max", AtLeast(1)).kernel(Kernel::build(Effect::Stateful, build))
    };
    [
        learned(
            "LearnedUnigramCandidateSampler",
            "As `UniformCandidateSampler`, but each class is drawn in proportion to one more than the number of times \
             that it was among the `true_classes` of earlier runs of the node in the session.",
        ),
        learned(
            "ThreadUnsafeUnigramCandidateSampler",
            "The same as `LearnedUnigramCandidateSampler`: here, that one is safe to run on several threads, too.",
        ),
    ]
}

/// What a node keeps in a session.
#[derive(Debug)]
struct Learned {
    stream: Stream,
    /// Made in the first run, whose memory they count in.
    counts: Mutex<Option<Counts>>,
}

impl Opaque for Learned {
    fn kind(&self) -> &'static str {
        "counts of classes"
    }
}

/// The number of times that each class was seen, and once more.
#[derive(Debug)]
struct Counts {
    counts: Charged<u32>,
    /// A Fenwick tree: entry `i`, counted from 1, has the sum of as many counts up to its own as its lowest
    /// bit says.
    sums: Charged<u32>,
    total: u32,
}

/// The greatest sum of the counts.
const MOST: u32 = i32::MAX as u32;

impl Counts {
    fn new(range: usize) -> Result<Counts> {
        let (mut counts, mut sums) = (Charged::with_room(range)?, Charged::with_room(range)?);
        let mut pace = Pace::new();
        for i in 1..=range {
            pace.spend(2)?;
            counts.push(1)?;
            sums.push(1 << i.trailing_zeros())?;
        }
        Ok(Counts { counts, sums, total: range as u32 })
    }

    /// The class whose counts hold the place, if all counts are laid out in a row.
    fn class(&self, mut place: u32) -> usize {
        let (mut class, mut step) = (0, self.sums.len().next_power_of_two());
        while step != 0 {
            let sum = self.sums.get(class + step - 1).copied().filter(|sum| *sum <= place);
            if let Some(sum) = sum {
                place -= sum;
                class += step;
            }
            step /= 2;
        }
        class
    }

    fn see(&mut self, class: usize) {
        self.counts[class] += 1;
        self.total += 1;
        let mut i = class + 1;
        while let Some(sum) = self.sums.get_mut(i - 1) {
            *sum += 1;
            i += 1 << i.trailing_zeros();
        }
    }

    fn index(&self, class: i64) -> Result<usize> {
        usize::try_from(class).ok().filter(|i| *i < self.counts.len()).ok_or_else(|| {
            invalid!(
                "`true_classes` has the class {class}, which is not in 0..{}, the range of `range_max`",
                self.counts.len()
            )
        })
    }
}

impl Classes for Counts {
    fn draw(&self, words: &mut Words) -> i64 {
        self.class(below(self.total, words)) as i64
    }

    fn probability(&self, class: i64) -> Result<f32> {
        Ok(self.counts[self.index(class)?] as f32 / self.total as f32)
    }

    fn number(&self) -> usize {
        self.counts.len()
    }
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let range = cx.node.attrs.int("range_max")?;
    let most = Charged::<u32>::MAX_LEN;
    let range = usize::try_from(range.max(1)).ok().filter(|n| *n <= most).ok_or_else(|| {
        invalid!("`range_max` is {range}, but a learned sampler counts {most} classes at most")
    })?;
    let learned = cx.state(|| Ok(Learned { stream: Stream::new(cx)?, counts: Mutex::new(None) }))?;
    Ok(Box::new(move |cx: &mut KernelCx| {
        let mut held = learned.counts.lock();
        let mut counts = match held.take() {
            Some(counts) => counts,
            None => Counts::new(range)?,
        };
        let done = run(cx, &learned.stream, &mut counts);
        *held = Some(counts);
        done
    }))
}

fn run(cx: &mut KernelCx, stream: &Stream, counts: &mut Counts) -> Result<()> {
    sample(cx, stream, counts)?;
    let seen = cx.input(0).as_slice::<i64>()?;
    // Every class was found in the range when its probability was computed.
    let mut pace = Pace::new();
    for class in seen.iter().take((MOST - counts.total) as usize) {
        pace.spend(16)?;
        let i = counts.index(*class)?;
        counts.see(i);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_a_row_of_counts() {
        for range in [1, 2, 3, 5, 8, 13] {
            let mut counts = Counts::new(range).unwrap();
            for seen in [0, range - 1, range / 2, range / 2] {
                counts.see(seen);
            }
            let row = (0..range).flat_map(|i| std::iter::repeat_n(i, counts.counts[i] as usize));
            let found = (0..counts.total).map(|place| counts.class(place));
            assert!(row.eq(found), "{range}");
        }
    }
}

cases! {
    the_only_class: "LearnedUnigramCandidateSampler(i64 [[0]]; num_true=1, num_sampled=2, unique=false, range_max=1, seed=1) = i64[2] [0 0], [[2.0]], [2.0 2.0]",
    unsafe_elsewhere: "ThreadUnsafeUnigramCandidateSampler(i64 [[0]]; num_true=1, num_sampled=2, unique=false, range_max=1, seed=1) = i64[2] [0 0], [[2.0]], [2.0 2.0]",
    shapes: "LearnedUnigramCandidateSampler(i64[?,2]; num_true=2, num_sampled=3, unique=true, range_max=9) : i64[3], f32[?,2], f32[3]",
    enough_classes: "LearnedUnigramCandidateSampler(i64 [[0]]; num_true=1, num_sampled=3, unique=true, range_max=2) ! 3 different classes cannot be drawn from 2",
    in_the_range: "LearnedUnigramCandidateSampler(i64 [[2]]; num_true=1, num_sampled=1, unique=true, range_max=2) ! which is not in 0..2",
    columns: "LearnedUnigramCandidateSampler(i64 [[0 1]]; num_true=1, num_sampled=3, unique=false, range_max=2) ! true_classes must have num_true columns",
}
