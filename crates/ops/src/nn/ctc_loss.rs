//! `CTCLoss`: the loss of connectionist temporal classification, with its gradient.

use super::ctc_greedy_decoder::checked;
use crate::number::{FloatElement, no_kernel};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, F64, I32, I64};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Code, PartialShape, Result, Tensor, ensure, invalid, with_element};
use num_traits::{FromPrimitive, ToPrimitive};

pub(crate) fn def() -> OpDef {
    OpDef::new("CTCLoss")
        .doc(
            "Computes the loss of each sequence under connectionist temporal classification (Graves and \
             others, 2006): minus the logarithm of the probability of its labels. `inputs` are logits of shape \
             `[time, batch, classes]`, whose last class is the blank; the first `sequence_length[b]` steps of \
             sequence `b` count. Its labels are row `b` of the sparse matrix `labels_indices`, \
             `labels_values`. `gradient` is that of the losses by `inputs`. With \
             `preprocess_collapse_repeated`, adjacent equal labels count once; without `ctc_merge_repeated`, \
             adjacent equal labels of a path stay apart; `ignore_longer_outputs_than_inputs` gives sequences \
             with more labels than steps the loss 0 instead of an error.",
        )
        .input("inputs", "T")
        .input("labels_indices", I64)
        .input("labels_values", I32)
        .input("sequence_length", I32)
        .output("loss", "T")
        .output("gradient", "T")
        .attr("preprocess_collapse_repeated", Bool.or(false))
        .attr("ctc_merge_repeated", Bool.or(true))
        .attr("ignore_longer_outputs_than_inputs", Bool.or(false))
        .attr("T", OneOf(&[F32, F64]).or(F32))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(60.0)))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let inputs = cx.with_rank(0, 3)?;
    let (indices, n_values, lengths) = (cx.with_rank(1, 2)?, cx.vector(2)?, cx.vector(3)?);
    if let (Some(n), Some(m)) = (indices.dim(0), n_values) {
        ensure!(n == m, "Dimensions must be equal, but are {n} and {m}"; "`labels_indices` has {n} rows, but `labels_values` {m} entries");
    }
    let dims = PartialShape::new([None, lengths, None]);
    let merged = inputs.merge(&dims).ok_or_else(|| {
        invalid!("Dimensions must be equal, but are {} and {}", inputs.dim(1).unwrap_or(0), lengths.unwrap_or(0);
            "`sequence_length` must have one entry for each sequence of `inputs`, whose shape is {inputs}")
    })?;
    cx.set(0, PartialShape::new([merged.dim(1)]));
    cx.set(1, merged);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = cx.input(0);
    let [loss, gradient] = with_element!(input.dtype(), T in [F32 F64] => losses::<T>(cx), else => Err(no_kernel("CTCLoss", input.dtype())))?;
    cx.set(0, loss);
    cx.set(1, gradient);
    Ok(())
}

/// How labels and paths are treated.
struct Ways {
    collapses: bool,
    merges: bool,
    ignores: bool,
}

fn losses<T: FloatElement + ToPrimitive + FromPrimitive>(cx: &KernelCx) -> Result<[Tensor; 2]> {
    let (input, lengths) = (cx.input(0), cx.ints(3)?);
    let [_, batch, classes] = checked(input, &lengths, Code::InvalidArgument)?;
    let ways = Ways {
        collapses: cx.attrs().bool("preprocess_collapse_repeated")?,
        merges: cx.attrs().bool("ctc_merge_repeated")?,
        ignores: cx.attrs().bool("ignore_longer_outputs_than_inputs")?,
    };
    ensure!(classes != 0, "num_classes is 0");
    // Two lists of labels for each sequence, which double as they grow.
    let lists = lengths.len().saturating_mul(2 * LIST);
    let _lists = Room::of(lists.saturating_add(cx.input(2).elements().saturating_mul(3 * size_of::<i64>())))?;
    let labels = labels(cx, &lengths, classes - 1, &ways)?;
    let logits = input.as_slice::<T>()?;
    let mut losses = Tensor::zeros(T::DTYPE, [batch])?;
    let mut gradient = Tensor::zeros(T::DTYPE, input.shape().clone())?;
    let (told, slopes) = (fresh::<T>(&mut losses)?, fresh::<T>(&mut gradient)?);
    let mut pace = Pace::new();
    for (b, &length) in lengths.iter().enumerate() {
        let length = usize::try_from(length).unwrap_or(0);
        let Some(labels) = labels[b].as_ref().filter(|_| length != 0) else { continue };
        // The probabilities, their logarithms and the gradients, and the two tables of states.
        let states = 2 * labels.len() + 1;
        let cells = (3 * classes).saturating_add(2 * states).saturating_mul(size_of::<f64>());
        let _tables = Room::of(length.saturating_mul(cells.saturating_add(5 * LIST)))?;
        let at = |t: usize| (t * batch + b) * classes;
        let softmax = |t: usize| {
            pace.spend(20 * classes)?;
            Ok(softmax(&logits[at(t)..at(t) + classes]))
        };
        let rows: Vec<Vec<f64>> = (0..length).map(softmax).collect::<Result<_>>()?;
        let (loss, grads) = of_sequence(&rows, labels, ways.merges, &mut pace)?;
        told[b] = T::from_f64(loss).unwrap_or(T::ZERO);
        for (t, grads) in grads.iter().enumerate() {
            for (slope, g) in slopes[at(t)..].iter_mut().zip(grads) {
                *slope = T::from_f64(*g).unwrap_or(T::ZERO);
            }
        }
    }
    Ok([losses, gradient])
}

/// The bytes that a short list takes besides its items.
const LIST: usize = 48;

/// Returns the labels of each sequence, or `None` for sequences that are ignored.
fn labels(cx: &KernelCx, lengths: &[i64], blank: usize, ways: &Ways) -> Result<Vec<Option<Vec<usize>>>> {
    let (indices, values) = (cx.input(1), cx.ints(2)?);
    ensure!(indices.rank() == 2, "labels_indices is not a matrix");
    ensure!(
        indices.shape()[0] == values.len() && indices.shape()[1] == 2,
        "labels_indices and labels_values must contain the same number of rows, but saw shapes: {} vs. {}",
        indices.shape(),
        cx.input(2).shape()
    );
    let mut rows: Vec<Vec<i64>> = vec![Vec::new(); lengths.len()];
    for (entry, &value) in indices.as_slice::<i64>()?.chunks_exact(2).zip(&values) {
        let row = usize::try_from(entry[0]).ok().and_then(|b| rows.get_mut(b)).ok_or_else(|| {
            invalid!(
                "label SparseTensor is not valid: Index is out of bounds: row {} of {} sequences",
                entry[0],
                lengths.len()
            )
        })?;
        row.push(value);
    }
    rows.into_iter()
        .zip(lengths)
        .enumerate()
        .map(|(b, (row, &length))| kept(b, row, length, blank, ways))
        .collect()
}

/// Returns the labels of sequence `b` that count.
fn kept(b: usize, row: Vec<i64>, length: i64, blank: usize, ways: &Ways) -> Result<Option<Vec<usize>>> {
    ensure!(!row.is_empty(), "Labels length is zero in batch {b}");
    if length < row.len() as i64 {
        ensure!(
            ways.ignores,
            "Not enough time for target transition sequence (required: {}, available: {length}){b}You can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs",
            row.len()
        );
        return Ok(None);
    }
    let (mut labels, mut null) = (Vec::with_capacity(row.len()), false);
    for (i, &label) in row.iter().enumerate() {
        let known = usize::try_from(label).map_err(|_| {
            invalid!("All labels must be nonnegative integers, batch: {b} labels: {}", listed(&row))
        })?;
        if ways.collapses && i > 0 && row[i - 1] == label {
            continue;
        }
        if blank <= known {
            null = true;
            continue;
        }
        ensure!(
            !null,
            "Saw a non-null label (index >= num_classes - 1) following a null label, batch: {b} num_classes: {} labels: {}",
            blank + 1,
            listed(&row)
        );
        labels.push(known);
    }
    Ok(Some(labels))
}

fn listed(row: &[i64]) -> String {
    row.iter().take(32).map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn softmax<T: ToPrimitive>(logits: &[T]) -> Vec<f64> {
    let x: Vec<f64> = logits.iter().map(|v| v.to_f64().unwrap_or(f64::NAN)).collect();
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exps: Vec<f64> = x.iter().map(|v| (v - most).exp()).collect();
    let total: f64 = exps.iter().sum();
    exps.into_iter().map(|e| e / total).collect()
}

/// The logarithm of a sum, from the logarithms of its parts.
fn log_sum(a: f64, b: f64) -> f64 {
    let (more, less) = if a < b { (b, a) } else { (a, b) };
    if less == f64::NEG_INFINITY { more } else { more + (less - more).exp().ln_1p() }
}

/// Returns the loss of one sequence and its gradient by the logits, from the probabilities at each step.
///
/// A path goes through states: the labels, with blanks between and around them. `alpha[t][s]` is the
/// logarithm of the probability of all beginnings of paths that are in state `s` at step `t`, with that step,
/// `beta[t][s]` that of all ends after step `t`.
fn of_sequence(
    y: &[Vec<f64>],
    labels: &[usize],
    merges: bool,
    pace: &mut Pace,
) -> Result<(f64, Vec<Vec<f64>>)> {
    let (steps, classes) = (y.len(), y[0].len());
    let blank = classes - 1;
    let states: Vec<usize> =
        labels.iter().flat_map(|&label| [blank, label]).chain(std::iter::once(blank)).collect();
    let n = states.len();
    let log: Vec<Vec<f64>> = y.iter().map(|row| row.iter().map(|p| p.ln()).collect()).collect();
    // Whether a path may come to state `s` from the state two before.
    let skips = |s: usize| s >= 2 && states[s] != blank && (!merges || states[s] != states[s - 2]);
    // Whether a path may stay: without merging, a label that stays is a second label.
    let stays = |s: usize| merges || states[s] == blank;
    let none = f64::NEG_INFINITY;
    let mut alpha = vec![vec![none; n]; steps];
    for s in 0..n.min(2) {
        alpha[0][s] = log[0][states[s]];
    }
    for t in 1..steps {
        pace.spend(20 * n)?;
        for s in 0..n {
            let mut from = if stays(s) { alpha[t - 1][s] } else { none };
            if s >= 1 {
                from = log_sum(from, alpha[t - 1][s - 1]);
            }
            if skips(s) {
                from = log_sum(from, alpha[t - 1][s - 2]);
            }
            alpha[t][s] = from + log[t][states[s]];
        }
    }
    let mut beta = vec![vec![none; n]; steps];
    beta[steps - 1][n.saturating_sub(2)..].fill(0.0);
    for t in (0..steps - 1).rev() {
        pace.spend(20 * n)?;
        for s in 0..n {
            let onward = |s: usize| beta[t + 1][s] + log[t + 1][states[s]];
            let mut to = if stays(s) { onward(s) } else { none };
            if s + 1 < n {
                to = log_sum(to, onward(s + 1));
            }
            if s + 2 < n && skips(s + 2) {
                to = log_sum(to, onward(s + 2));
            }
            beta[t][s] = to;
        }
    }
    let total = (0..n).fold(none, |sum, s| log_sum(sum, alpha[0][s] + beta[0][s]));
    // Without any path the loss is infinity, and the gradient the softmax, as in TensorFlow.
    let grads = (0..steps).map(|t| {
        pace.spend(20 * n)?;
        let mut of_class = vec![none; classes];
        for s in 0..n {
            of_class[states[s]] = log_sum(of_class[states[s]], alpha[t][s] + beta[t][s]);
        }
        let share = |sum: f64| if total == none { 0.0 } else { (sum - total).exp() };
        Ok(y[t].iter().zip(of_class).map(|(p, sum)| p - share(sum)).collect())
    });
    let grads = grads.collect::<Result<_>>()?;
    Ok((-total, grads))
}

// The kernel computes the gradient with the loss. TensorFlow has no second derivative either.
fn grad(cx: &mut GradCx) -> Result<()> {
    ensure!(!cx.has_grad(1), "`gradient` of CTCLoss cannot be differentiated, only `loss`");
    if cx.wants(0) && cx.has_grad(0) {
        let (dloss, slope) = (cx.grad(0), cx.output(1));
        let each = cx.op("ExpandDims").input(dloss).input(-1).output();
        let barrier = cx.op("PreventGradient").input(slope).attr("message", "Currently there is no way to take the second derivative of ctc_loss due to the fused implementation's interaction with tf.gradients()").output();
        cx.give(0, each * barrier);
    }
    Ok(())
}

cases! {
    of_one_label: "CTCLoss([[[0.0 0.0]] [[0.0 0.0]]], i64[1,2] [[0 0]], [0], [2]) ~ [0.28768207], [[[-0.16666667 0.16666667]] [[-0.16666667 0.16666667]]]",
    of_two_labels: "CTCLoss([[[0.0 0.0 0.0]] [[0.0 0.0 0.0]] [[0.0 0.0 0.0]]], i64[2,2] [[0 0] [0 1]], [0 1], [3]) ~ [1.686399], [[[-0.46666667 0.33333334 0.13333334]] [[-0.06666666 -0.06666666 0.13333334]] [[0.33333334 -0.46666667 0.13333334]]]",
    ignores: "CTCLoss([[[0.0 0.0]]], i64[2,2] [[0 0] [0 1]], [0 0], [1]; ignore_longer_outputs_than_inputs=true) = [0.0], [[[0.0 0.0]]]",
    infers: "CTCLoss(f32[?,3,5], i64[?,2], i32[?], i32[?]) : f32[3], f32[?,3,5]",
    has_labels: "CTCLoss([[[0.0 0.0]]], i64[0,2] [], i32[0] [], [1]) ! Labels length is zero in batch 0",
    not_enough_time: "CTCLoss([[[0.0 0.0]]], i64[2,2] [[0 0] [0 1]], [0 0], [1]) ! Not enough time for target transition sequence (required: 2, available: 1)",
    labels_are_positive: "CTCLoss([[[0.0 0.0]]], i64[1,2] [[0 0]], [-1], [1]) ! All labels must be nonnegative integers, batch: 0 labels: -1",
    rows_are_sequences: "CTCLoss([[[0.0 0.0]]], i64[1,2] [[1 0]], [0], [1]) ! label SparseTensor is not valid",
    too_long: "CTCLoss([[[0.0 1.0]]], i64[1,2] [[0 0]], [0], [2]) ! sequence_length(0) <= 1",
}
