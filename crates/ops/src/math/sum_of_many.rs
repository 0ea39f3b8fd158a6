//! What AddN and AccumulateNV2 share: the sum of many tensors of one shape, from the first to the last.

use super::elementwise::Pair;
use crate::number::no_kernel;
use millstream_graph::op::{InferCx, KernelCx};
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;

formula!(x, y: Num => x.add(y));

/// The shape that all inputs have.
pub(crate) fn common_shape(cx: &InferCx) -> Result<PartialShape> {
    let mut shape = PartialShape::unknown();
    // From the last to the first: a message names the shapes in this order in TensorFlow, too.
    for (i, input) in cx.inputs().iter().enumerate().rev() {
        shape = input.merge(&shape).ok_or_else(|| {
            invalid!(
                "{}: input {i} has shape {input} but those after it {shape}; they must be equal",
                cx.node().op.name
            )
            .led_by(format!("{}\n\tFrom merging shape {i} with other shapes.", input.difference(&shape)))
        })?;
    }
    Ok(shape)
}

/// The sum of all inputs.
pub(crate) fn run(cx: &mut KernelCx) -> Result<()> {
    ensure!(cx.n_inputs() > 0, "{}: there is nothing to add", cx.node.op.name);
    let shape = cx.input(0).shape().clone();
    for (i, input) in cx.inputs().iter().enumerate() {
        ensure!(
            *input.shape() == shape,
            "Inputs to operation {} of type {} must have the same size and shape.  Input 0: {shape} != input {i}: {}",
            cx.node.name,
            cx.node.op.name,
            input.shape();
            "{}: input {i} has shape {} but input 0 has shape {shape}; they must be equal",
            cx.node.op.name,
            input.shape()
        );
    }
    let inputs: SmallVec<[Tensor; 4]> = (0..cx.n_inputs()).map(|i| cx.take(i)).collect();
    let total = sum(cx.node.op.name, inputs, &shape)?;
    cx.set(0, total);
    Ok(())
}

/// The sum of tensors of one dtype and of this shape.
pub(crate) fn sum(op: &str, inputs: impl IntoIterator<Item = Tensor>, shape: &Shape) -> Result<Tensor> {
    let mut inputs = inputs.into_iter();
    let mut total = inputs.next().ok_or_else(|| invalid!("{op}: there is nothing to add"))?;
    dtypes!(numbers, total.dtype(), T => {
        for input in inputs {
            total = const { &Pair::<T>::of::<Formula>() }.map(total, input, shape)?.0;
        }
        Ok(total)
    }, else => Err(no_kernel(op, total.dtype())))
}
