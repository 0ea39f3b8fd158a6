//! `RandomShuffle`: random order of the slices along axis 0.

use crate::shared::philox::{Stream, WORDS, Words};
use millstream_graph::op::spec::{AnyType, Int, Spec};
use millstream_graph::op::{BuildCx, Effect, Gradient, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::Result;
use millstream_tensor::budget::Room;
use millstream_tensor::pace::{Pace, paced};

pub(crate) fn def() -> OpDef {
    OpDef::new("RandomShuffle")
        .doc(
            "Shuffles the slices of `value` along axis 0. Each run continues the random stream of the node, \
             which starts from `seed` and `seed2`, or from random seeds if both are 0.",
        )
        .input("value", "T")
        .output("output", "T")
        .attr("seed", Int.or(0))
        .attr("seed2", Int.or(0))
        .attr("T", AnyType)
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::build(Effect::Stateful, build))
        .gradient(Gradient::Missing(
            "TensorFlow has none either: shuffle the numbers of the rows, and `Gather` the rows",
        ))
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let stream = Stream::of(cx)?;
    Ok(Box::new(move |cx: &mut KernelCx| shuffle(cx, &stream)))
}

// A Fisher-Yates shuffle from the front, which takes one word for each position but the last. A scalar, or a
// value with at most one slice or element, takes nothing from the stream.
fn shuffle(cx: &mut KernelCx, stream: &Stream) -> Result<()> {
    let value = cx.take(0);
    let count = value.shape().dims().first().copied().unwrap_or(1);
    if count <= 1 || value.elements() <= 1 {
        cx.set(0, value);
        return Ok(());
    }
    let philox = stream.reserve((count - 1).div_ceil(WORDS) as u64);
    let mut words = Words::new(philox);
    let run = value.elements() / count;
    let _room = Room::of(count.saturating_mul(size_of::<usize>()))?;
    let mut starts = Vec::with_capacity(count);
    paced(count, |range| starts.extend(range.map(|i| i * run)))?;
    let mut pace = Pace::new();
    for i in 0..count - 1 {
        pace.spend(1)?;
        // The words are 32 bits wide, so the remaining count is reduced to 32 bits, too.
        let rest = ((count - i) as u32).max(1);
        starts.swap(i, i + (words.word() % rest) as usize);
    }
    cx.set(0, value.take_runs(value.shape().clone(), run, &starts)?);
    Ok(())
}

cases! {
    keeps_a_scalar: "RandomShuffle(7; seed=1) = 7",
    keeps_the_shape: "RandomShuffle(f32[?,3]) : f32[?,3]",
    wants_one_input: "RandomShuffle(1, 2; seed=1) ! takes 1 input",
}
