//! `CTCGreedyDecoder`: the labels of the largest logits under connectionist temporal classification.

use crate::number::{FloatElement, no_kernel};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, F64, I32, I64};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Code, Error, PartialShape, Result, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("CTCGreedyDecoder")
        .doc(
            "Returns the label with the largest logit at each step, without blanks. `inputs` are logits of \
             shape `[time, batch, classes]`, whose last class is the blank; the first `sequence_length[b]` \
             steps of sequence `b` count. The labels of all sequences are a sparse matrix: `decoded_indices`, \
             `decoded_values` and `decoded_shape`. `log_probability` of shape `[batch, 1]` is minus the sum of \
             the largest logits. If `merge_repeated` is true, equal labels of adjacent steps become one.",
        )
        .input("inputs", "T")
        .input("sequence_length", I32)
        .output("decoded_indices", I64)
        .output("decoded_values", I64)
        .output("decoded_shape", I64)
        .output("log_probability", "T")
        .attr("merge_repeated", Bool.or(false))
        .attr("T", OneOf(&[F32, F64]).or(F32))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::none("labels have none, and TensorFlow defines none for their probability"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let inputs = cx.with_rank(0, 3)?;
    let lengths = cx.vector(1)?;
    if let (Some(batch), Some(n)) = (inputs.dim(1), lengths) {
        ensure!(batch == n, "Dimensions must be equal, but are {batch} and {n}"; "`inputs` holds {batch} sequences, but `sequence_length` {n} lengths");
    }
    cx.set(0, PartialShape::new([None, Some(2)]));
    cx.set(1, PartialShape::new([None]));
    cx.set(2, PartialShape::new([Some(2)]));
    cx.set(3, PartialShape::new([inputs.dim(1).or(lengths), Some(1)]));
    Ok(())
}

/// Returns the dimensions of logits, after checks of the lengths of their sequences. `too_long` is the code
/// of the error for a sequence with more steps than there are, or for another number of sequences.
pub(super) fn checked(logits: &Tensor, lengths: &[i64], too_long: Code) -> Result<[usize; 3]> {
    let [steps, batch, classes] = *logits.shape().dims() else {
        return Err(invalid!("inputs is not a 3-Tensor"; "`inputs` has shape {}", logits.shape()));
    };
    if lengths.len() != batch {
        return Err(Error::new(
            too_long,
            format!(
                "len(sequence_length) != batch_size.  len(sequence_length):  {} batch_size: {batch}",
                lengths.len()
            ),
        ));
    }
    if let Some(b) = lengths.iter().position(|n| (steps as i64) < *n) {
        return Err(Error::new(too_long, format!("sequence_length({b}) <= {steps}")));
    }
    Ok([steps, batch, classes])
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = cx.input(0);
    let out = with_element!(input.dtype(), T in [F32 F64] => decode::<T>(cx), else => Err(no_kernel("CTCGreedyDecoder", input.dtype())))?;
    out.into_iter().enumerate().for_each(|(i, out)| cx.set(i, out));
    Ok(())
}

fn decode<T: FloatElement>(cx: &KernelCx) -> Result<[Tensor; 4]> {
    let (input, lengths) = (cx.input(0), cx.ints(1)?);
    let [_, batch, classes] = checked(input, &lengths, Code::FailedPrecondition)?;
    ensure!(classes != 0, "num_classes is 0");
    let (logits, merges) = (input.as_slice::<T>()?, cx.attrs().bool("merge_repeated")?);
    let mut probabilities = Tensor::zeros(T::DTYPE, [batch, 1])?;
    let told = fresh::<T>(&mut probabilities)?;
    let (mut indices, mut values, mut longest) = (Vec::new(), Vec::new(), 0);
    let mut pace = Pace::new();
    for (b, &length) in lengths.iter().enumerate() {
        let (mut n, mut before) = (0i64, None);
        for t in 0..usize::try_from(length).unwrap_or(0) {
            pace.spend(classes)?;
            let at = (t * batch + b) * classes;
            let row = &logits[at..at + classes];
            let best = (1..classes).fold(0, |best, i| if row[best] < row[i] { i } else { best });
            told[b] = told[b].sub(row[best]);
            if best + 1 != classes && !(merges && before == Some(best)) {
                indices.extend([b as i64, n]);
                values.push(best as i64);
                n += 1;
            }
            before = Some(best);
        }
        longest = longest.max(n);
    }
    Ok([
        Tensor::from_slice([values.len(), 2], &indices)?,
        Tensor::from_slice([values.len()], &values)?,
        Tensor::from_slice([2], &[batch as i64, longest])?,
        probabilities,
    ])
}

cases! {
    takes_the_largest: "CTCGreedyDecoder([[[0.5 0.25 0.0]] [[0.0 0.0 1.0]] [[0.5 0.0 0.0]]], [3]) = i64 [[0 0] [0 1]], i64 [0 0], i64 [1 2], [[-2.0]]",
    merges: "CTCGreedyDecoder([[[0.5 0.25 0.0]] [[0.5 0.0 0.25]]], [2]; merge_repeated=true) = i64 [[0 0]], i64 [0], i64 [1 1], [[-1.0]]",
    infers: "CTCGreedyDecoder(f32[?,3,5], i32[?]) : i64[?,2], i64[?], i64[2], f32[3,1]",
    too_long: "CTCGreedyDecoder([[[0.0 1.0]]], [2]) ! sequence_length(0) <= 1",
    a_length_each: "CTCGreedyDecoder([[[0.0 1.0]]], [1 1]) ! `inputs` holds 1 sequences, but `sequence_length` 2 lengths",
}
