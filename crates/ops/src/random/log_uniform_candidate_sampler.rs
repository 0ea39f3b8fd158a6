//! `LogUniformCandidateSampler`: classes whose probability falls with their number.

use super::candidates::{Classes, sample, sampler};
use crate::shared::philox::{Stream, Words};
use millstream_graph::op::spec::AtLeast;
use millstream_graph::op::{BuildCx, Effect, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    sampler("LogUniformCandidateSampler")
        .doc(
            "As `UniformCandidateSampler`, but class k has the probability `log((k + 2) / (k + 1)) / \
             log(range_max + 1)`: that of words which are sorted by frequency, roughly.",
        )
        .attr("range_max", AtLeast(1))
        .kernel(Kernel::build(Effect::Stateful, build))
}

struct LogUniform {
    range: i64,
    /// `log(range + 1)`.
    log: f64,
}

impl Classes for LogUniform {
    fn draw(&self, words: &mut Words) -> i64 {
        // A number in [0, 1) of 52 random bits: the upper ones come first.
        let upper = u64::from(words.word() & 0xF_FFFF) << 32;
        let unit = (upper | u64::from(words.word())) as f64 * 0.5f64.powi(52);
        ((unit * self.log).exp() as i64).saturating_sub(1) % self.range
    }

    fn probability(&self, class: i64) -> Result<f32> {
        let class = class as f64;
        Ok((((class + 2.0) / (class + 1.0)).ln() / self.log) as f32)
    }

    fn number(&self) -> usize {
        self.range as usize
    }
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let range = cx.node.attrs.int("range_max")?.max(1);
    let (stream, classes) = (Stream::of(cx)?, LogUniform { range, log: (range as f64).ln_1p() });
    Ok(Box::new(move |cx: &mut KernelCx| sample(cx, &stream, &classes)))
}

cases! {
    the_only_class: "LogUniformCandidateSampler(i64 [[0]]; num_true=1, num_sampled=2, unique=false, range_max=1, seed=1) = i64[2] [0 0], [[2.0]], [2.0 2.0]",
    shapes: "LogUniformCandidateSampler(i64[?,2]; num_true=2, num_sampled=3, unique=true, range_max=9) : i64[3], f32[?,2], f32[3]",
    enough_classes: "LogUniformCandidateSampler(i64 [[0]]; num_true=1, num_sampled=3, unique=true, range_max=2) ! 3 different classes cannot be drawn from 2",
    columns: "LogUniformCandidateSampler(i64 [[0 1]]; num_true=1, num_sampled=3, unique=false, range_max=2) ! true_classes must have num_true columns",
}
