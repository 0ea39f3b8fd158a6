//! What AddN and AccumulateNV2 share: the sum of many tensors of one shape, from the first to the last.

use super::elementwise::{Pair, unsupported};
use millstream_graph::op::{InferCx, KernelCx};
use millstream_tensor::{PartialShape, Result, ensure, invalid};

formula!(x, y: Num => x.add(y));

/// The shape that all inputs have.
pub(crate) fn common_shape(cx: &InferCx) -> Result<PartialShape> {
    let mut shape = PartialShape::unknown();
    for (i, input) in cx.inputs().iter().enumerate() {
        shape = shape.merge(input).ok_or_else(|| {
            invalid!(
                "{}: input {i} has shape {input} but those before it {shape}; they must be equal",
                cx.node().op.name
            )
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
            "{}: input {i} has shape {} but input 0 has shape {shape}; they must be equal",
            cx.node.op.name,
            input.shape()
        );
    }
    dtypes!(numbers, cx.input(0).dtype(), T => {
        let mut sum = cx.take(0);
        for i in 1..cx.n_inputs() {
            sum = const { &Pair::<T>::of::<Formula>() }.map(sum, cx.take(i), &shape)?.0;
        }
        cx.set(0, sum);
        Ok(())
    }, else => Err(unsupported(cx)))
}
