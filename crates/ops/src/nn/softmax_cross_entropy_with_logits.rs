//! `SoftmaxCrossEntropyWithLogits`: the cross entropy of rows of probabilities and rows of logits, with its
//! gradient.

use super::softmax_rows::Row;
use super::softmax_rows::through_entropy;
use crate::number::{Field, FloatElement, Number, no_kernel};
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Error, PartialShape, Result, Shape, Tensor, invalid, with_element};
use num_traits::Float as _;

pub(crate) fn def() -> OpDef {
    OpDef::new("SoftmaxCrossEntropyWithLogits")
        .doc(
            "Computes, for each row, the cross entropy `-sum(labels * log_softmax(features))`, and its \
             gradient `softmax(features) - labels`. The inputs are broadcast to a matrix.",
        )
        .input("features", "T")
        .input("labels", "T")
        .output("loss", "T")
        .output("backprop", "T")
        .attr("T", FloatType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn mismatch(features: &PartialShape, labels: &PartialShape) -> Error {
    invalid!("`features` of shape {features} and `labels` of shape {labels} do not broadcast to a matrix")
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (f, l) = (cx.input(0), cx.input(1));
    let either = match (f.rank(), l.rank()) {
        // A dimension over 1 determines the result, whatever the other shape is.
        (None, Some(2)) | (Some(2), None) => {
            let known = if f.rank().is_some() { f } else { l };
            PartialShape::new(known.dims().unwrap_or(&[]).iter().map(|d| d.filter(|d| *d != 1)))
        }
        _ => PartialShape::unknown(),
    };
    let both = f.broadcast(l).ok_or_else(|| mismatch(f, l).led_by(f.no_broadcast(l)))?;
    let both = both.merge(&either).unwrap_or(both);
    let matrix = both.merge(&PartialShape::unknown_of_rank(2));
    let both = matrix.ok_or_else(|| mismatch(f, l).led_by(both.not_of_rank(2)))?;
    cx.set(0, PartialShape::new([both.dim(0)]));
    cx.set(1, both);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (features, labels) = (cx.input(0), cx.input(1));
    let shape = features.shape().broadcast(labels.shape()).filter(|s| s.rank() == 2);
    let shape = shape.ok_or_else(|| {
        let (f, l) = (features.shape(), labels.shape());
        mismatch(&f.into(), &l.into()).led_by(match f.broadcast(l) {
            None => format!("logits and labels must be broadcastable: logits_size={f} labels_size={l}"),
            Some(_) => "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional"
                .to_owned(),
        })
    })?;
    let (features, labels) = (features.broadcast_to(shape.clone())?, labels.broadcast_to(shape.clone())?);
    let (loss, backprop) = with_element!(features.dtype(), T in floats => {
        entropy::<T>(&features, &labels, &shape)
    }, else => Err(no_kernel("SoftmaxCrossEntropyWithLogits", features.dtype())))?;
    cx.set(0, loss);
    cx.set(1, backprop);
    Ok(())
}

fn entropy<T: FloatElement>(features: &Tensor, labels: &Tensor, shape: &Shape) -> Result<(Tensor, Tensor)>
where
    T::Work: Number<Wide = T::Work> + Field,
{
    let (batch, n) = (shape[0], shape[1]);
    let mut loss = Tensor::zeros(T::DTYPE, [batch])?;
    let mut backprop = Tensor::zeros(T::DTYPE, shape.clone())?;
    // The sum over no classes is 0.
    if batch == 0 || n == 0 {
        return Ok((loss, backprop));
    }
    let mut row = Row::new(n)?;
    let losses = loss.make_mut_or_copy::<T>()?;
    let rows = backprop.make_mut_or_copy::<T>()?.chunks_exact_mut(n);
    let inputs = features.as_slice::<T>()?.chunks_exact(n).zip(labels.as_slice::<T>()?.chunks_exact(n));
    for ((loss, grads), (xs, ls)) in losses.iter_mut().zip(rows).zip(inputs) {
        row.compute(xs)?;
        let log = row.sum.ln();
        let mut total = T::Work::default();
        for (((g, &l), &e), &x) in grads.iter_mut().zip(ls).zip(&row.exps).zip(&row.shifted) {
            total = total + l.work() * (log - x);
            *g = T::of_work(e / row.sum - l.work());
        }
        *loss = T::of_work(total);
    }
    Ok((loss, backprop))
}

// loss = -Σ labels log(softmax); backprop = softmax - labels, the derivative of the loss by the logits.
fn grad(cx: &mut GradCx) -> Result<()> {
    if cx.wants(0) {
        let logits = through_entropy(cx);
        cx.give_summed(0, logits);
    }
    if cx.wants(1) {
        let mut labels = None;
        if cx.has_grad(0) {
            let (dloss, features) = (cx.grad(0), cx.input(0));
            let each = cx.op("ExpandDims").input(dloss).input(-1).output();
            labels = Some(-(each * cx.call("LogSoftmax", [features])));
        }
        if cx.has_grad(1) {
            let dback = cx.grad(1);
            labels = Some(labels.map_or(-dback, |sum| sum - dback));
        }
        if let Some(labels) = labels {
            cx.give_summed(1, labels);
        }
    }
    Ok(())
}

cases! {
    of_rows: "SoftmaxCrossEntropyWithLogits([[1.0 2.0] [3.0 1.0]], [[0.5 0.5] [1.0 0.0]]) ~ [0.8132616 0.12692805], [[-0.23105857 0.2310586] [-0.11920297 0.11920292]]",
    broadcasts: "SoftmaxCrossEntropyWithLogits([[1.0 2.0]], [[0.5 0.5] [1.0 0.0]]) ~ [0.8132616 1.3132616], [[-0.23105857 0.2310586] [-0.7310586 0.7310586]]",
    shape: "SoftmaxCrossEntropyWithLogits(f32[?,3], f32[2,?]) : f32[2], f32[2,3]",
    shape_of_one: "SoftmaxCrossEntropyWithLogits(f32[..], f32[2,3]) : f32[2], f32[2,3]",
    needs_a_matrix: "SoftmaxCrossEntropyWithLogits([1.0], [1.0]) ! do not broadcast to a matrix",
    shapes_fit: "SoftmaxCrossEntropyWithLogits(f32[2,3], f32[2,4]) ! do not broadcast to a matrix",
}
