//! `CombinedNonMaxSuppression`: selects boxes by their scores, for each class of each image of a batch.

use super::suppression::{checked, overlap};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, I32};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Dim, PartialShape, Result, Tensor, ensure, invalid};
use std::cmp::Ordering;

pub(crate) fn def() -> OpDef {
    OpDef::new("CombinedNonMaxSuppression")
        .doc(
            "Selects boxes of each image by their `scores`, `[batch, n, classes]`. The boxes, `[batch, n, q, 4]`, are \
             common to all classes if `q` is 1; otherwise each class has its own. Within a class a box is left out \
             if the quotient of its intersection and its union with a selected one is greater than \
             `iou_threshold`; at most `max_output_size_per_class` with a score above `score_threshold` are selected. \
             Returns the `max_total_size` boxes with the highest scores of all classes, their scores and their \
             classes, filled up with zeros, and the number of boxes of each image. With `pad_per_class` there are \
             no more rows than all classes can fill. With `clip_boxes` the sides are moved into `[0, 1]`.",
        )
        .input("boxes", F32)
        .input("scores", F32)
        .input("max_output_size_per_class", I32)
        .on_host()
        .input("max_total_size", I32)
        .on_host()
        .input("iou_threshold", F32)
        .on_host()
        .input("score_threshold", F32)
        .on_host()
        .output("nmsed_boxes", F32)
        .output("nmsed_scores", F32)
        .output("nmsed_classes", F32)
        .output("valid_detections", I32)
        .attr("pad_per_class", Bool.or(false))
        .attr("clip_boxes", Bool.or(true))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(50.0)))
        .gradient(Gradient::none("which boxes are selected does not change by degrees"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (boxes, scores) = (cx.with_rank(0, 4)?, cx.with_rank(1, 3)?);
    for i in 2..6 {
        cx.scalar(i)?;
    }
    if let Some(n) = boxes.dim(3) {
        ensure!(n == 4, "Dimension must be 4 but is {n}"; "a box has four sides, but `boxes` has shape {boxes}");
    }
    let batch = match (boxes.dim(0), scores.dim(0)) {
        (Some(a), Some(b)) if a != b => {
            return Err(invalid!(
                "{}", millstream_tensor::unequal(a, b); "`boxes` has {a} images but `scores` has {b}"
            ));
        }
        (a, b) => a.or(b),
    };
    if let (Some(a), Some(b)) = (boxes.dim(1), scores.dim(1)) {
        ensure!(a == b, "{}", millstream_tensor::unequal(a, b); "there are {a} boxes but scores for {b}");
    }
    let count = |i: usize| cx.int(i).and_then(|n| usize::try_from(n).ok());
    let rows: Dim = match cx.attrs().bool("pad_per_class")? {
        false => count(3),
        true => match (count(3), count(2), scores.dim(2)) {
            (Some(total), Some(each), Some(classes)) => Some(total.min(each.saturating_mul(classes))),
            _ => None,
        },
    };
    cx.set(0, PartialShape::from([batch, rows, Some(4)]));
    cx.set(1, PartialShape::from([batch, rows]));
    cx.set(2, PartialShape::from([batch, rows]));
    cx.set(3, PartialShape::from([batch]));
    Ok(())
}

/// A selected box: its score, its class and the place of its sides.
#[derive(Clone, Copy)]
struct Selected {
    score: f32,
    class: usize,
    sides: usize,
}

/// Scalar input `i`.
fn scalar(cx: &KernelCx, i: usize) -> Result<f32> {
    let t = cx.input(i);
    ensure!(t.rank() == 0, "{} must be 0-D, got shape {}", cx.name_of(i), t.shape(); "`{}` must be a scalar", cx.name_of(i));
    t.to_scalar::<f32>()
}

/// Scalar input `i`. TensorFlow's words call it `name`.
fn count(cx: &KernelCx, i: usize, name: &str) -> Result<i64> {
    let t = cx.input(i);
    ensure!(t.rank() == 0, "{name} must be 0-D, got shape {}", t.shape(); "`{}` must be a scalar", cx.name_of(i));
    cx.int(i)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (boxes, scores) = (cx.input(0).shape(), cx.input(1).shape());
    ensure!(boxes.rank() == 4, "boxes must be 4-D"; "`boxes` has shape {boxes} but must have shape [batch,n,q,4]");
    ensure!(scores.rank() == 3, "scores must be 3-D"; "`scores` has shape {scores} but must have rank 3");
    ensure!(boxes[0] == scores[0], "boxes and scores must have same batch size"; "they have shapes {boxes} and {scores}");
    let (batch, n, q, classes) = (boxes[0], boxes[1], boxes[2], scores[2]);
    ensure!(
        q == 1 || q == classes,
        "third dimension of boxes must be either 1 or num classes"; "`boxes` has shape {boxes} and there are {classes} classes"
    );
    ensure!(boxes[3] == 4, "boxes must have 4 columns"; "`boxes` has shape {boxes}");
    ensure!(scores[1] == n, "scores has incompatible shape"; "`scores` has shape {scores} but there are {n} boxes");
    // As in TensorFlow, a negative number is no limit.
    let each = usize::try_from(count(cx, 2, "max_size_per_class")?).unwrap_or(usize::MAX);
    let total = count(cx, 3, "max_total_size")?;
    let total = usize::try_from(total).ok().filter(|n| 0 < *n);
    let total =
        total.ok_or_else(|| invalid!("max_total_size must be > 0"; "`max_total_size` must be positive"))?;
    let similar = checked(scalar(cx, 4)?)?;
    let least = scalar(cx, 5)?;
    let (pads, clips) = (cx.attrs().bool("pad_per_class")?, cx.attrs().bool("clip_boxes")?);
    let rows = if pads { total.min(each.saturating_mul(classes)) } else { total };
    let (sides, scores) = (cx.take(0), cx.take(1));
    let (sides, scores) = (sides.as_slice::<f32>()?, scores.as_slice::<f32>()?);
    let mut out = [
        Tensor::zeros(F32, [batch, rows, 4])?,
        Tensor::zeros(F32, [batch, rows])?,
        Tensor::zeros(F32, [batch, rows])?,
    ];
    let mut counts = Tensor::zeros(I32, [batch])?;
    for image in 0..batch {
        let mut found = Charged::<Selected>::new();
        for class in 0..classes {
            let rule = (each, similar, least);
            let at = |i: usize| (image * n + i) * q + if q == 1 { 0 } else { class };
            select(rule, n, |i| scores[(image * n + i) * classes + class], at, sides, class, &mut found)?;
        }
        // Of equal scores the lower class comes first.
        found.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
        let kept = found.len().min(rows);
        fresh::<i32>(&mut counts)?[image] =
            i32::try_from(kept).map_err(|_| invalid!("there are more boxes than fit in an i32"))?;
        let [of_boxes, of_scores, of_classes] = &mut out;
        for (i, one) in found.iter().take(kept).enumerate() {
            let row = image * rows + i;
            let moved =
                sides[4 * one.sides..][..4].iter().map(|v| if clips { v.clamp(0.0, 1.0) } else { *v });
            let to = &mut fresh::<f32>(of_boxes)?[4 * row..][..4];
            to.iter_mut().zip(moved).for_each(|(to, v)| *to = v);
            fresh::<f32>(of_scores)?[row] = one.score;
            fresh::<f32>(of_classes)?[row] = one.class as f32;
        }
    }
    for (i, t) in out.into_iter().enumerate() {
        cx.set(i, t);
    }
    cx.set(3, counts);
    Ok(())
}

/// Adds the selected boxes of one class to `found`.
fn select(
    (each, similar, least): (usize, f32, f32),
    n: usize,
    score: impl Fn(usize) -> f32,
    at: impl Fn(usize) -> usize,
    sides: &[f32],
    class: usize,
    found: &mut Charged<Selected>,
) -> Result<()> {
    let mut pace = Pace::new();
    let mut candidates = Charged::<Selected>::new();
    for i in 0..n {
        pace.spend(1)?;
        if least < score(i) {
            candidates.push(Selected { score: score(i), class, sides: at(i) })?;
        }
    }
    candidates.sort_by(|a, b| b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal));
    let first = found.len();
    for one in candidates.iter() {
        if each <= found.len() - first {
            break;
        }
        pace.spend(1 + 8 * (found.len() - first))?;
        if !found[first..].iter().rev().any(|other| similar < overlap(sides, one.sides, other.sides)) {
            found.push(*one)?;
        }
    }
    Ok(())
}

cases! {
    of_two_classes: "CombinedNonMaxSuppression([[[[0.0 0.0 1.0 1.0]] [[0.0 0.0 1.0 1.1]] [[2.0 2.0 3.0 3.0]]]], [[[0.9 0.1] [0.8 0.2] [0.3 0.7]]], 2, 3, 0.5, 0.15) = [[[0.0 0.0 1.0 1.0] [1.0 1.0 1.0 1.0] [1.0 1.0 1.0 1.0]]], [[0.9 0.7 0.3]], [[0.0 1.0 0.0]], [3]",
    boxes_of_each_class: "CombinedNonMaxSuppression([[[[0.0 0.0 1.0 1.0] [0.0 0.0 2.0 2.0]]]], [[[0.4 0.5]]], 4, 4, 0.5, 0.0; pad_per_class=true, clip_boxes=false) = [[[0.0 0.0 2.0 2.0] [0.0 0.0 1.0 1.0] [0.0 0.0 0.0 0.0] [0.0 0.0 0.0 0.0]]], [[0.5 0.4 0.0 0.0]], [[1.0 0.0 0.0 0.0]], [2]",
    no_more_than_all_classes: "CombinedNonMaxSuppression([[[[0.0 0.0 1.0 1.0]]]], [[[0.4]]], 1, 4, 0.5, 0.0; pad_per_class=true) = [[[0.0 0.0 1.0 1.0]]], [[0.4]], [[0.0]], [1]",
    infers: "CombinedNonMaxSuppression(f32[?,7,1,4], f32[2,?,3], i32[], 5, f32[], f32[]) : f32[2,5,4], f32[2,5], f32[2,5], i32[2]",
    infers_padded: "CombinedNonMaxSuppression(f32[?,?,1,4], f32[?,?,3], 2, 9, f32[], f32[]; pad_per_class=true) : f32[?,6,4], f32[?,6], f32[?,6], i32[?]",
    four_sides: "CombinedNonMaxSuppression(f32[1,1,1,3], f32[1,1,1], 1, 1, f32[], f32[]) ! Dimension must be 4 but is 3",
    boxes_for_classes: "CombinedNonMaxSuppression([[[[0.0 0.0 1.0 1.0] [0.0 0.0 1.0 1.0]]]], [[[0.4 0.2 0.1]]], 1, 1, 0.5, 0.0) ! third dimension of boxes must be either 1 or num classes",
    positive: "CombinedNonMaxSuppression([[[[0.0 0.0 1.0 1.0]]]], [[[0.4]]], 1, 0, 0.5, 0.0) ! max_total_size must be > 0",
    a_share: "CombinedNonMaxSuppression([[[[0.0 0.0 1.0 1.0]]]], [[[0.4]]], 1, 1, 1.5, 0.0) ! iou_threshold must be in [0, 1]",
}
