//! The shape rule and the kernel that AddN and AccumulateNV2 share: the sum of tensors of one shape, from the
//! first to the last.

use crate::number::Num;
use crate::number::record::{self, Sym};
use crate::shared::sum::sum;
use millstream_graph::op::{InferCx, KernelCx, Lowering, NodeInfo};
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid};
use smallvec::SmallVec;

/// Returns the merged shape of all inputs, or an error if they differ.
pub(crate) fn common_shape(cx: &InferCx) -> Result<PartialShape> {
    let mut shape = PartialShape::unknown();
    // The order is from the last to the first, as in TensorFlow, because the message names the shapes in that
    // order.
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

/// The lowering of the sum of all inputs.
pub(crate) fn lowering(node: &NodeInfo) -> Option<Lowering> {
    let dtype = node.output_types.first()?.dtype;
    let total = record::expression(dtype, node.input_types.len(), |x| {
        let first = x.first().copied().unwrap_or(Sym::int(0));
        (x.iter().skip(1).fold(first, |total, x| total.add(*x)), None)
    });
    total.map(Lowering::Elements)
}

/// Sets output 0 to the sum of all inputs.
pub(crate) fn run(cx: &mut KernelCx) -> Result<()> {
    ensure!(cx.n_inputs() > 0, "{} needs at least one input", cx.node.op.name);
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
