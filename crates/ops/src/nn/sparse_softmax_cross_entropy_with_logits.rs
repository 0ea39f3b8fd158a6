//! `SparseSoftmaxCrossEntropyWithLogits`: the cross entropy of class indices and rows of logits, with its
//! gradient.

use super::softmax_rows::Row;
use super::softmax_rows::through_entropy;
use crate::number::{Field, FloatElement, Number, no_kernel};
use crate::shared::elementwise::vectorized;
use millstream_graph::op::spec::{FloatType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid, with_element};
use num_traits::Float as _;

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseSoftmaxCrossEntropyWithLogits")
        .doc(
            "Computes, for each row, the cross entropy `-log_softmax(features)[label]`, and its gradient: \
             the softmax, minus 1 at the label.",
        )
        .input("features", "T")
        .input("labels", "Tlabels")
        .output("loss", "T")
        .output("backprop", "T")
        .attr("T", FloatType)
        .attr("Tlabels", IndexType.or(I64))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let features = cx.with_rank(0, 2)?;
    let labels = cx.with_rank(1, 1)?;
    let batch = PartialShape::new([features.dim(0)]).merge(&labels).ok_or_else(|| {
        let words = PartialShape::new([features.dim(0)]).unlike_dims(&labels);
        invalid!("{words}"; "`labels` has shape {labels} but must have a label for each row of `features`, whose shape is {features}")
    })?;
    cx.set(1, PartialShape::new([batch.dim(0), features.dim(1)]));
    cx.set(0, batch);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (features, labels) = (cx.input(0), cx.input(1));
    ensure!(features.rank() == 2, "`features` must be a matrix but has shape {}", features.shape());
    ensure!(
        labels.shape().dims() == &features.shape()[..1],
        "logits and labels must have the same first dimension, got logits shape {} and labels shape {}",
        features.shape(),
        labels.shape();
        "`labels` has shape {} but must have a label for each row of `features`, whose shape is {}",
        labels.shape(),
        features.shape()
    );
    let labels = cx.ints(1)?;
    let (loss, backprop) = with_element!(features.dtype(), T in floats => {
        entropy::<T>(features, &labels)
    }, else => Err(no_kernel("SparseSoftmaxCrossEntropyWithLogits", features.dtype())))?;
    cx.set(0, loss);
    cx.set(1, backprop);
    Ok(())
}

fn entropy<T: FloatElement>(features: &Tensor, labels: &[i64]) -> Result<(Tensor, Tensor)>
where
    T::Work: Number<Wide = T::Work> + Field,
{
    let shape = features.shape();
    let n = shape[1];
    ensure!(n != 0, "Must have at least one class, but got logits shape {shape}"; "`features` must have at least one class, but its shape is {shape}");
    let mut loss = Tensor::zeros(T::DTYPE, [shape[0]])?;
    let mut backprop = Tensor::zeros(T::DTYPE, shape.clone())?;
    let mut row = Row::new(n)?;
    let losses = loss.make_mut_or_copy::<T>()?;
    let rows = backprop.make_mut_or_copy::<T>()?.chunks_exact_mut(n);
    let inputs = features.as_slice::<T>()?.chunks_exact(n).zip(labels);
    for (i, ((loss, grads), (xs, &label))) in losses.iter_mut().zip(rows).zip(inputs).enumerate() {
        let at = usize::try_from(label).ok().filter(|l| *l < n).ok_or_else(|| {
            invalid!("Received a label value of {label} which is outside the valid range of [0, {n}).  Label values: {}", crate::shared::axes::listed(labels, " "); "`labels` has {label} at {i}, but there are {n} classes: a label lies in 0..{n}")
        })?;
        row.compute(xs)?;
        *loss = T::of_work(row.sum.ln() - row.shifted[at]);
        let one = <T::Work as Number>::ONE;
        let pairs = grads.iter_mut().zip(&row.exps);
        vectorized(|| pairs.for_each(|(g, e)| *g = T::of_work(*e / row.sum)));
        grads[at] = T::of_work(row.exps[at] / row.sum - one);
    }
    Ok((loss, backprop))
}

// loss = -log(softmax[label]); backprop = softmax, minus 1 at the label, the derivative of the loss by the
// logits.
fn grad(cx: &mut GradCx) -> Result<()> {
    let logits = through_entropy(cx);
    cx.give(0, logits);
    Ok(())
}

cases! {
    of_rows: "SparseSoftmaxCrossEntropyWithLogits([[1.0 2.0] [3.0 1.0]], [1 0]) ~ [0.31326166 0.12692805], [[0.26894143 -0.2689414] [-0.11920297 0.11920292]]",
    shape: "SparseSoftmaxCrossEntropyWithLogits(f32[?,3], i64[2]) : f32[2], f32[2,3]",
    label_out_of_range: "SparseSoftmaxCrossEntropyWithLogits([[1.0 2.0]], [2]) ! has 2 at 0, but there are 2 classes",
    one_label_per_row: "SparseSoftmaxCrossEntropyWithLogits([[1.0 2.0]], [1 1]) ! a label for each row",
    needs_classes: "SparseSoftmaxCrossEntropyWithLogits(f32[1,0] [[]], [0]) ! at least one class",
}
