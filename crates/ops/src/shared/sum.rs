//! The sum of many tensors of one shape, added from the first to the last.

use super::elementwise::Pair;
use crate::number::no_kernel;
use millstream_tensor::{Result, Shape, Tensor, invalid, with_element};

formula!(x, y: Num => x.add(y));

/// Returns the sum of tensors of one dtype and of this shape.
pub(crate) fn sum(op: &str, inputs: impl IntoIterator<Item = Tensor>, shape: &Shape) -> Result<Tensor> {
    let mut inputs = inputs.into_iter();
    let mut total = inputs.next().ok_or_else(|| invalid!("{op} needs at least one input"))?;
    with_element!(total.dtype(), T in numbers => {
        for input in inputs {
            total = const { &Pair::<T>::of::<Formula>() }.map(total, input, shape)?.0;
        }
        Ok(total)
    }, else => Err(no_kernel(op, total.dtype())))
}
