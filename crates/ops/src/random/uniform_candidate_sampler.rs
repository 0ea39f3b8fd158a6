//! `UniformCandidateSampler`: classes drawn with equal probability.

use super::candidates::{Classes, long, sample, sampler};
use crate::shared::philox::{Stream, Words};
use millstream_graph::op::spec::AtLeast;
use millstream_graph::op::{BuildCx, Effect, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    sampler("UniformCandidateSampler")
        .doc(
            "Draws `num_sampled` classes from `0..range_max` with equal probability; different ones if `unique` \
             is true. Returns them, the expected count of each of `true_classes` among them, and that of each \
             class drawn. Each run continues the random stream of the node, which starts from `seed` and \
             `seed2`, or from random seeds if both are 0.",
        )
        .attr("range_max", AtLeast(1))
        .kernel(Kernel::build(Effect::Stateful, build))
}

struct Uniform(u64);

impl Classes for Uniform {
    fn draw(&self, words: &mut Words) -> i64 {
        let rest = (u64::MAX % self.0 + 1) % self.0;
        loop {
            let word = long(words);
            if word <= u64::MAX - rest {
                return (word % self.0) as i64;
            }
        }
    }

    fn probability(&self, _: i64) -> Result<f32> {
        Ok((1.0 / self.0 as f64) as f32)
    }

    fn number(&self) -> usize {
        self.0 as usize
    }
}

fn build(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let (stream, classes) = (Stream::of(cx)?, Uniform(cx.node.attrs.int("range_max")?.unsigned_abs().max(1)));
    Ok(Box::new(move |cx: &mut KernelCx| sample(cx, &stream, &classes)))
}

cases! {
    the_only_class: "UniformCandidateSampler(i64 [[0]]; num_true=1, num_sampled=2, unique=false, range_max=1, seed=1) = i64[2] [0 0], [[2.0]], [2.0 2.0]",
    shapes: "UniformCandidateSampler(i64[?,2]; num_true=2, num_sampled=3, unique=true, range_max=9) : i64[3], f32[?,2], f32[3]",
    enough_classes: "UniformCandidateSampler(i64 [[0]]; num_true=1, num_sampled=3, unique=true, range_max=2) ! 3 different classes cannot be drawn from 2",
    columns: "UniformCandidateSampler(i64 [[0 1]]; num_true=1, num_sampled=3, unique=false, range_max=2) ! true_classes must have num_true columns, expected: 2 was: 1",
    a_matrix: "UniformCandidateSampler(i64 [0]; num_true=1, num_sampled=3, unique=false, range_max=2) ! must have rank 2",
}
