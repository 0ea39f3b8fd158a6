//! `TensorArrayUnpack`: writes the rows of a tensor to the elements, in the oldest graphs.

use super::tensor_arrays::{self, By, HandleArg, array, flow_on, kernel, write};
use crate::shared::lists::rows;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorArrayUnpack")
        .doc(
            "Writes row `i` of `value` to element `i`. The number of rows must be the size of the \
             TensorArray, unless it can grow.",
        )
        .handle_in(By::Reference, "handle")
        .input("value", "T")
        .input("flow_in", DType::F32)
        .output("flow_out", DType::F32)
        .attr("T", AnyType)
        .infer(infer)
        .kernel(kernel(run))
        .gradient(Gradient::Missing(tensor_arrays::OLD))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    ensure!(cx.input(1).rank() != Some(0), "`value` is a scalar: it has no rows to write");
    cx.scalar(2)?;
    cx.set(0, PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (array, value) = (array(cx)?, cx.take(1));
    let (len, n) = (array.len()?, value.shape().first().copied());
    ensure!(
        n.is_some_and(|n| n == len || array.has_dynamic_size() && len < n),
        "{array:?} has {len} elements, for which `value` of shape {} has not a row each",
        value.shape()
    );
    let rows = rows(&value);
    array.mark_len(rows.len());
    write(cx, rows.enumerate().map(|(i, row)| Ok((i as i64, row?))))?;
    flow_on(cx, 2, 0);
    Ok(())
}

cases! {
    unpacks: "a <- TensorArray(2; dtype=i32) | TensorArrayRead(a, 1, TensorArrayUnpack(a, [[1 2] [3 4]], 0.0); dtype=i32) = [3 4]",
    infers: "TensorArrayUnpack(&str[2], f32[?,3], f32[]) : f32[]",
    a_row_each: "a <- TensorArray(3; dtype=i32) | TensorArrayUnpack(a, [1 2], 0.0) ! has 3 elements, for which `value` of shape [2] has not a row each",
}
