//! `CTCBeamSearchDecoder`: the most probable labels of sequences under connectionist temporal classification.

use crate::number::{FloatElement, no_kernel};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{AtLeast, Bool, OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, F64, I32, I64};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Code, Error, PartialShape, Result, Tensor, ensure, invalid, with_element};
use num_traits::ToPrimitive;
use std::cmp::Ordering;

pub(crate) fn def() -> OpDef {
    OpDef::new("CTCBeamSearchDecoder")
        .doc(
            "Finds probable labels of each sequence under connectionist temporal classification (Graves and \
             others, 2006). `inputs` are logits of shape `[time, batch, classes]`, whose last class is the \
             blank; the first `sequence_length[b]` steps of sequence `b` count. The search keeps the \
             `beam_width` most probable prefixes. For each of the `top_paths` best results, the labels of all \
             sequences are a sparse matrix: `decoded_indices`, `decoded_values` and `decoded_shape`. \
             `log_probability` has shape `[batch, top_paths]`. If `merge_repeated` is true, adjacent equal \
             labels of a result become one.",
        )
        .input("inputs", "T")
        .input("sequence_length", I32)
        .outputs("decoded_indices", "top_paths", I64)
        .outputs("decoded_values", "top_paths", I64)
        .outputs("decoded_shape", "top_paths", I64)
        .output("log_probability", "T")
        .attr("beam_width", AtLeast(1))
        .attr("top_paths", AtLeast(1))
        .attr("merge_repeated", Bool.or(true))
        .attr("T", OneOf(&[F32, F64]).or(F32))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::Estimate(|node, inputs| {
            let width = node.attrs.int("beam_width").unwrap_or(1) as f64;
            inputs.first().map_or(0.0, |x| 20.0 * width * x.elements() as f64)
        })))
        .gradient(Gradient::none("labels have none, and TensorFlow defines none for their probability"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let inputs = cx.with_rank(0, 3)?;
    let lengths = cx.vector(1)?;
    let n = cx.attrs().int("top_paths")?;
    let n = usize::try_from(n).map_err(|_| invalid!("`top_paths` is {n}"))?;
    let dims = inputs.dims().unwrap_or(&[None, None, None]);
    if let (Some(batch), Some(n)) = (dims[1], lengths) {
        ensure!(batch == n, "Dimensions must be equal, but are {batch} and {n}"; "`inputs` holds {batch} sequences, but `sequence_length` {n} lengths");
    }
    let batch = dims[1].or(lengths);
    for i in 0..n {
        cx.set(i, PartialShape::new([None, Some(2)]));
        cx.set(n + i, PartialShape::new([None]));
        cx.set(2 * n + i, PartialShape::new([Some(2)]));
    }
    cx.set(3 * n, PartialShape::new([batch, Some(n)]));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = cx.input(0);
    let out = with_element!(input.dtype(), T in [F32 F64] => decode::<T>(cx), else => Err(no_kernel("CTCBeamSearchDecoder", input.dtype())))?;
    out.into_iter().enumerate().for_each(|(i, out)| cx.set(i, out));
    Ok(())
}

fn decode<T: FloatElement + ToPrimitive + num_traits::FromPrimitive>(cx: &KernelCx) -> Result<Vec<Tensor>> {
    let (input, lengths) = (cx.input(0), cx.ints(1)?);
    let [steps, batch, classes] = *input.shape().dims() else {
        return Err(invalid!("inputs is not a 3-Tensor"; "`inputs` has shape {}", input.shape()));
    };
    let of = |name: &str| -> Result<usize> {
        let n = cx.attrs().int(name)?;
        usize::try_from(n)
            .ok()
            .filter(|n| 1 <= *n)
            .ok_or_else(|| invalid!("`{name}` is {n} but must be positive"))
    };
    let (width, n) = (of("beam_width")?, of("top_paths")?);
    ensure!(steps != 0, "max_time is 0");
    ensure!(classes != 0, "num_classes is 0");
    ensure!(
        lengths.len() == batch,
        "len(sequence_length) != batch_size.  len(sequence_length):  {} batch_size: {batch}",
        lengths.len()
    );
    if let Some(b) = lengths.iter().position(|n| (steps as i64) < *n) {
        return Err(Error::new(Code::FailedPrecondition, format!("sequence_length({b}) <= {steps}")));
    }
    ensure!(n <= width, "requested more paths than the beam width.");
    let logits = input.as_slice::<T>()?;
    let mut probabilities = Tensor::zeros(T::DTYPE, [batch, n])?;
    let told = fresh::<T>(&mut probabilities)?;
    let merges = cx.attrs().bool("merge_repeated")?;
    let mut paths: Vec<Vec<(usize, Vec<i64>)>> = vec![Vec::new(); n];
    let mut pace = Pace::new();
    for (b, &length) in lengths.iter().enumerate() {
        let mut search = Search::new(width, classes - 1)?;
        for t in 0..length.max(0) as usize {
            let at = (t * batch + b) * classes;
            search.step(&normalized(&logits[at..at + classes]), &mut pace)?;
        }
        ensure!(n <= search.leaves.len(), "Less leaves in the beam search than requested.");
        for (i, &leaf) in search.leaves.iter().take(n).enumerate() {
            paths[i].push((b, search.labels(leaf, merges)));
            told[b * n + i] = T::from_f64(search.entries[leaf].new.total).unwrap_or(T::ZERO);
        }
    }
    let mut out: [Vec<Tensor>; 3] = Default::default();
    for path in &paths {
        let longest = path.iter().map(|(_, labels)| labels.len()).max().unwrap_or(0);
        let values: Vec<i64> = path.iter().flat_map(|(_, labels)| labels).copied().collect();
        let indices: Vec<i64> = path
            .iter()
            .flat_map(|(b, labels)| (0..labels.len()).flat_map(move |i| [*b as i64, i as i64]))
            .collect();
        out[0].push(Tensor::from_slice([values.len(), 2], &indices)?);
        out[1].push(Tensor::from_slice([values.len()], &values)?);
        out[2].push(Tensor::from_slice([2], &[batch as i64, longest as i64])?);
    }
    Ok(out.into_iter().flatten().chain([probabilities]).collect())
}

/// Returns the logarithms of the probabilities of classes.
fn normalized<T: ToPrimitive>(logits: &[T]) -> Vec<f64> {
    let x: Vec<f64> = logits.iter().map(|v| v.to_f64().unwrap_or(f64::NAN)).collect();
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total = most + x.iter().map(|v| (v - most).exp()).sum::<f64>().ln();
    x.into_iter().map(|v| v - total).collect()
}

/// The logarithm of a sum, from the logarithms of its parts.
fn log_sum(a: f64, b: f64) -> f64 {
    let (more, less) = if a < b { (b, a) } else { (a, b) };
    if less == f64::NEG_INFINITY { more } else { more + (less - more).exp().ln_1p() }
}

/// The logarithms of the probabilities of a prefix: in all, of paths that end with a blank, and of those that
/// end with its last label.
#[derive(Clone, Copy)]
struct Probability {
    total: f64,
    blank: f64,
    label: f64,
}

impl Probability {
    const NONE: Probability =
        Probability { total: f64::NEG_INFINITY, blank: f64::NEG_INFINITY, label: f64::NEG_INFINITY };
}

/// A prefix: a node in the tree of all prefixes that were considered.
struct Entry {
    parent: Option<usize>,
    label: usize,
    /// The first of its children, which lie side by side, if it has been expanded.
    children: Option<usize>,
    old: Probability,
    new: Probability,
}

impl Entry {
    /// Whether the prefix is in the beam.
    fn is_active(&self) -> bool {
        self.new.total != f64::NEG_INFINITY
    }
}

/// The search of one sequence.
struct Search {
    width: usize,
    n_labels: usize,
    entries: Charged<Entry>,
    /// The prefixes in the beam, the most probable first.
    leaves: Vec<usize>,
}

impl Search {
    fn new(width: usize, n_labels: usize) -> Result<Search> {
        let certain = Probability { total: 0.0, blank: 0.0, label: f64::NEG_INFINITY };
        let root =
            Entry { parent: None, label: usize::MAX, children: None, old: Probability::NONE, new: certain };
        Ok(Search { width, n_labels, entries: Charged::holding(vec![root])?, leaves: vec![0] })
    }

    /// Goes one step on; `x` are the logarithms of the probabilities of the labels and of the blank.
    fn step(&mut self, x: &[f64], pace: &mut Pace) -> Result<()> {
        let branches = std::mem::take(&mut self.leaves);
        for &b in &branches {
            self.entries[b].old = self.entries[b].new;
        }
        for &b in &branches {
            self.prolong(b, x);
            self.push(b);
        }
        for &b in &branches {
            pace.spend(8 * self.n_labels + 8)?;
            if self.is_candidate(self.entries[b].old.total) {
                self.expand(b, x)?;
            }
        }
        Ok(())
    }

    /// Gives a prefix of the beam its probabilities after a step that does not lengthen it, or that arrives
    /// at it from the prefix without its last label.
    fn prolong(&mut self, b: usize, x: &[f64]) {
        let entry = &self.entries[b];
        let mut new = entry.new;
        if let Some(parent) = entry.parent {
            let above = &self.entries[parent];
            if above.is_active() {
                let from = if entry.label == above.label { above.old.blank } else { above.old.total };
                new.label = log_sum(new.label, from);
            }
            new.label += x[entry.label];
        }
        new.blank = entry.old.total + x[self.n_labels];
        new.total = log_sum(new.blank, new.label);
        self.entries[b].new = new;
    }

    /// Considers the prefixes that are longer by one label.
    fn expand(&mut self, b: usize, x: &[f64]) -> Result<()> {
        let first = match self.entries[b].children {
            Some(first) => first,
            None => {
                let first = self.entries.len();
                for label in 0..self.n_labels {
                    let none = Probability::NONE;
                    self.entries.push(Entry {
                        parent: Some(b),
                        label,
                        children: None,
                        old: none,
                        new: none,
                    })?;
                }
                self.entries[b].children = Some(first);
                first
            }
        };
        for (label, x) in x[..self.n_labels].iter().enumerate() {
            let child = first + label;
            if self.entries[child].is_active() {
                continue;
            }
            let own = &self.entries[b];
            let from = if own.label == label { own.old.blank } else { own.old.total };
            let total = from + x;
            self.entries[child].new = Probability { total, blank: f64::NEG_INFINITY, label: total };
            if self.is_candidate(total) {
                self.push(child);
            } else {
                let child = &mut self.entries[child];
                (child.old, child.new) = (Probability::NONE, Probability::NONE);
            }
        }
        Ok(())
    }

    /// Whether a prefix of this probability enters the beam.
    fn is_candidate(&self, total: f64) -> bool {
        let room = self.leaves.len() < self.width;
        f64::NEG_INFINITY < total
            && (room || self.leaves.last().is_some_and(|&last| self.entries[last].new.total < total))
    }

    /// Puts a prefix into the beam; if that is full, the last one leaves it.
    fn push(&mut self, entry: usize) {
        if self.leaves.len() == self.width
            && let Some(last) = self.leaves.pop()
        {
            self.entries[last].new = Probability::NONE;
        }
        let total = |i: usize| self.entries[i].new.total;
        let at =
            self.leaves.partition_point(|&i| total(i).partial_cmp(&total(entry)) != Some(Ordering::Less));
        self.leaves.insert(at, entry);
    }

    fn labels(&self, leaf: usize, merges: bool) -> Vec<i64> {
        let (mut labels, mut at) = (Vec::new(), leaf);
        while let Some(parent) = self.entries[at].parent {
            let label = self.entries[at].label as i64;
            labels.push(label);
            at = parent;
        }
        if merges {
            labels.dedup();
        }
        labels.reverse();
        labels
    }
}

cases! {
    finds_the_best: "CTCBeamSearchDecoder([[[0.6 0.3 0.1]] [[0.1 0.2 0.7]] [[0.5 0.4 0.1]]], [3]; beam_width=4, top_paths=1) \
         ~ i64 [[0 0]], i64 [0], i64 [1 1], [[-1.5557121]]",
    infers: "CTCBeamSearchDecoder(f32[?,3,5], i32[?]; beam_width=3, top_paths=2) : i64[?,2], i64[?,2], i64[?], i64[?], i64[2], i64[2], f32[3,2]",
    too_many_paths: "CTCBeamSearchDecoder([[[0.0 1.0]]], [1]; beam_width=1, top_paths=2) ! requested more paths than the beam width.",
    too_few_leaves: "CTCBeamSearchDecoder([[[0.0 1.0]]], [1]; beam_width=5, top_paths=4) ! Less leaves in the beam search than requested.",
    too_long: "CTCBeamSearchDecoder([[[0.0 1.0]]], [2]; beam_width=1, top_paths=1) ! sequence_length(0) <= 1",
    no_steps: "CTCBeamSearchDecoder(f32[0,1,2] [], [0]; beam_width=1, top_paths=1) ! max_time is 0",
}
