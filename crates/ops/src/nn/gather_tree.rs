//! `GatherTree`: the sequences of a beam search, from its steps.

use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("GatherTree")
        .doc(
            "Follows the beams of a search back from the last step. `step_ids` and `parent_ids` have shape \
             `[time, batch, beams]`: the symbol that each beam appended at each step, and the beam of the step \
             before that it continues. Sequence `b` ends after `max_sequence_lengths[b]` steps. A beam holds \
             `end_token` after its first `end_token` and after the end of its sequence.",
        )
        .input("step_ids", "T")
        .input("parent_ids", "T")
        .input("max_sequence_lengths", I32)
        .input("end_token", "T")
        .output("beams", "T")
        .attr("T", OneOf(&[I32]))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::none("integer output"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (steps, parents) = (cx.with_rank(0, 3)?, cx.with_rank(1, 3)?);
    let lengths = PartialShape::new([None, cx.vector(2)?, None]);
    cx.scalar(3)?;
    let both = steps.merge(&parents).ok_or_else(|| {
        invalid!("`step_ids` has shape {steps}, but `parent_ids` has shape {parents}; they must be equal")
            .led_by(steps.difference(&parents))
    })?;
    let merged = both.merge(&lengths).ok_or_else(
        || invalid!("`max_sequence_lengths` must have one entry for each sequence of `step_ids`, whose shape is {both}"),
    )?;
    cx.set(0, merged);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (steps, parents) = (cx.input(0), cx.input(1));
    ensure!(steps.rank() == 3, "step_ids must be a 3-tensor, saw shape: {}", steps.shape());
    ensure!(parents.rank() == 3, "parent_ids must be a 3-tensor, saw shape: {}", parents.shape());
    ensure!(
        cx.input(2).rank() == 1,
        "max_sequence_lengths must be a vector, saw shape: {}",
        cx.input(2).shape()
    );
    ensure!(cx.input(3).rank() == 0, "end_token must be a scalar, saw shape: {}", cx.input(3).shape());
    ensure!(
        steps.shape() == parents.shape(),
        "step_ids and parent_ids must have the same shape. Step_ids shape: {}, parent_ids shape: {}",
        steps.shape(),
        parents.shape()
    );
    let [time, batch, beams] = [steps.shape()[0], steps.shape()[1], steps.shape()[2]];
    let lengths = cx.ints(2)?;
    ensure!(
        lengths.len() == batch,
        "batch size dimensions step_ids.shape[1] and max_sequence_lengths.shape[0] must match.  but shapes are: {} and {}",
        steps.shape(),
        cx.input(2).shape()
    );
    let end = cx.input(3).to_scalar::<i32>()?;
    let (ids, parents) = (steps.as_slice::<i32>()?, parents.as_slice::<i32>()?);
    let mut out = Tensor::zeros(I32, steps.shape().clone())?;
    let found = fresh::<i32>(&mut out)?;
    found.fill(end);
    let mut pace = Pace::new();
    for (b, &length) in lengths.iter().enumerate() {
        let length = usize::try_from(length).unwrap_or(0).min(time);
        for beam in 0..beams {
            pace.spend(4 * length + 1)?;
            let mut from = beam;
            for t in (0..length).rev() {
                let at = (t * batch + b) * beams;
                found[at + beam] = ids[at + from];
                let parent = parents[at + from];
                // The first step continues nothing, so its parents are not looked at.
                if t > 0 {
                    from = usize::try_from(parent).ok().filter(|p| *p < beams).ok_or_else(|| {
                        invalid!(
                            "Saw invalid parent id {parent} at (batch, time, beam) == ({b}, {}, {beam})", t - 1;
                            "a parent must be one of {beams} beams"
                        )
                    })?;
                }
            }
            let mut ended = false;
            for t in 0..length {
                let symbol = &mut found[(t * batch + b) * beams + beam];
                ended |= *symbol == end;
                if ended {
                    *symbol = end;
                }
            }
        }
    }
    cx.set(0, out);
    Ok(())
}

cases! {
    follows_parents: "GatherTree([[[1 2 3]] [[4 5 6]] [[7 8 9]]], [[[0 0 0]] [[0 1 1]] [[2 1 2]]], [3], 10) = [[[2 2 2]] [[6 5 6]] [[7 8 9]]]",
    ends_early: "GatherTree([[[1 2]] [[3 4]]], [[[0 0]] [[1 0]]], [1], 9) = [[[1 2]] [[9 9]]]",
    ends_with_its_token: "GatherTree([[[1]] [[9]] [[3]]], [[[0]] [[0]] [[0]]], [3], 9) = [[[1]] [[9]] [[9]]]",
    infers: "GatherTree(i32[?,3,5], i32[7,?,5], i32[?], i32[]) : i32[7,3,5]",
    parents_are_beams: "GatherTree([[[1]] [[2]]], [[[0]] [[1]]], [2], 9) ! Saw invalid parent id 1 at (batch, time, beam) == (0, 0, 0)",
    a_length_each: "GatherTree([[[1]]], [[[0]]], [1 1], 9) ! `max_sequence_lengths` must have one entry for each sequence",
}
