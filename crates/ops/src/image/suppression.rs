//! Non-max suppression: boxes are selected by their scores, and those that are too similar to a selected one
//! are dropped, or, with soft suppression, lose some of their score. What the ops in their versions share.

use crate::shared::casting::cast;
use millstream_graph::op::{KernelCx, StepEnv};
use millstream_tensor::DType::F32;
use millstream_tensor::budget::Charged;
use millstream_tensor::{Result, Tensor, ensure, invalid};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What decides about boxes.
pub(super) struct Rule {
    /// The most boxes.
    pub most: usize,
    /// The similarity from which on a box is dropped.
    pub similar: f32,
    /// The score that a box must exceed.
    pub least: f32,
    /// The width of soft suppression, or 0 for none.
    pub sigma: f32,
}

/// Reads scalar input `i` as an f32.
pub(super) fn scalar(cx: &KernelCx, i: usize) -> Result<f32> {
    let t = cx.input(i);
    ensure!(t.rank() == 0, "{} must be 0-D, got shape {}", cx.name_of(i), t.shape(); "`{}` must be a scalar", cx.name_of(i));
    cast(t, F32)?.to_scalar::<f32>()
}

/// Reads scalar input 2, the most boxes. As in TensorFlow, a negative number is no limit.
pub(super) fn most(cx: &KernelCx) -> Result<usize> {
    Ok(usize::try_from(cx.int(2)?).unwrap_or(usize::MAX))
}

/// Reads input 1, the scores of `n` boxes.
pub(super) fn scores(cx: &KernelCx, n: usize) -> Result<Tensor> {
    let scores = cx.input(1);
    ensure!(
        scores.shape().dims() == [n],
        "scores has incompatible shape"; "`scores` has shape {} but there are {n} boxes", scores.shape()
    );
    cast(scores, F32)
}

/// Checks a threshold of similarity.
pub(super) fn checked(similar: f32) -> Result<f32> {
    ensure!((0.0..=1.0).contains(&similar), "iou_threshold must be in [0, 1]"; "`iou_threshold` is {similar}");
    Ok(similar)
}

/// A box that may be selected. `seen` selected ones have taken their part of its score.
struct Candidate {
    index: usize,
    score: f32,
    seen: usize,
}

// The highest score comes first, of equal ones the first box.
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.index.cmp(&self.index))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// Returns the selected boxes with their scores.
pub(super) fn select(
    env: &StepEnv,
    scores: &[f32],
    rule: &Rule,
    similarity: impl Fn(usize, usize) -> f32,
) -> Result<(Charged<i32>, Charged<f32>)> {
    let mut candidates: Charged<Candidate> = Charged::new();
    for (index, score) in scores.iter().enumerate() {
        if rule.least < *score {
            // A zero has one sign here, so that zeros are equal.
            candidates.push(Candidate { index, score: score + 0.0, seen: 0 })?;
        }
    }
    let _room: Charged<Candidate> = Charged::with_room(candidates.len())?;
    let mut queue = BinaryHeap::from(candidates.take());
    let (mut selected, mut kept) = (Charged::<i32>::new(), Charged::<f32>::new());
    let scale = if 0.0 < rule.sigma { -0.5 / rule.sigma } else { 0.0 };
    while selected.len() < rule.most {
        env.cancel.check()?;
        let Some(mut next) = queue.pop() else { break };
        let before = next.score;
        let mut dropped = false;
        for other in selected[next.seen..].iter().rev() {
            let similar = similarity(next.index, *other as usize);
            // As in TensorFlow 1.15, a box that is too similar goes, also in soft suppression.
            if rule.similar <= similar {
                dropped = true;
                break;
            }
            next.score *= (scale * similar * similar).exp();
            if next.score <= rule.least {
                break;
            }
        }
        next.seen = selected.len();
        if dropped {
            continue;
        }
        if next.score == before {
            let index =
                i32::try_from(next.index).map_err(|_| invalid!("there are more boxes than fit in an i32"))?;
            selected.push(index)?;
            kept.push(next.score)?;
        } else if rule.least < next.score {
            queue.push(next);
        }
    }
    Ok((selected, kept))
}

/// The quotient of the intersection and the union of two boxes, whose corners come in any order.
pub(super) fn overlap(boxes: &[f32], i: usize, j: usize) -> f32 {
    let corners = |i: usize| {
        let b = &boxes[4 * i..][..4];
        [b[0].min(b[2]), b[1].min(b[3]), b[0].max(b[2]), b[1].max(b[3])]
    };
    let (a, b) = (corners(i), corners(j));
    let area = |c: &[f32; 4]| (c[2] - c[0]) * (c[3] - c[1]);
    let (of_a, of_b) = (area(&a), area(&b));
    if of_a <= 0.0 || of_b <= 0.0 {
        return 0.0;
    }
    let height = (a[2].min(b[2]) - a[0].max(b[0])).max(0.0);
    let width = (a[3].min(b[3]) - a[1].max(b[1])).max(0.0);
    let both = height * width;
    both / (of_a + of_b - both)
}
