//! `TensorArraySplit` and its newer forms: writes the parts of a tensor to the elements.

use super::tensor_arrays::{self, HandleArg, array, elements, flow_on, kernel, versions, write};
use crate::shared::lists::{stacked, unstacked};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, ensure, invalid};

pub(crate) fn def() -> [OpDef; 3] {
    versions(["TensorArraySplit", "TensorArraySplitV2", "TensorArraySplitV3"]).map(|(name, by)| {
        OpDef::new(name)
            .doc(
                "Writes parts of `value` along its first axis: element `i` gets `lengths[i]` rows. The \
                 parts share its memory and are not copied.",
            )
            .handle_in(by, "handle")
            .input("value", "T")
            .input("lengths", DType::I64)
            .on_host()
            .input("flow_in", DType::F32)
            .output("flow_out", DType::F32)
            .attr("T", AnyType)
            .infer(infer)
            .kernel(kernel(run))
            .gradient(tensor_arrays::gradient(by, grad))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(2)?;
    cx.scalar(3)?;
    let (shape, value) = (elements(cx, cx.dtype(1))?, cx.input(1));
    ensure!(value.rank() != Some(0), "`value` is a scalar: it cannot be split");
    let part = stacked(None, &unstacked(value));
    ensure!(shape.is_compatible(&part), "Inconsistent shapes: saw {} but expected {}", part.as_tuple(), shape.as_tuple(); "parts of shape {part} are written to a TensorArray of elements of shape {shape}");
    cx.set(0, PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (value, lengths) = (cx.take(1), cx.ints(2)?);
    let rows = *value.shape().first().ok_or_else(|| invalid!("`value` is a scalar: it cannot be split"))?;
    let array = array(cx)?;
    let len = array.len()?;
    ensure!(
        len == lengths.len() || array.has_dynamic_size() && len < lengths.len(),
        "TensorArray's size is not equal to the size of lengths ({len} vs. {}), and the TensorArray is not marked as dynamically resizeable",
        lengths.len();
        "{array:?} has {len} elements for {} parts",
        lengths.len()
    );
    // All lengths are checked first, so that nothing is written if one is invalid.
    let mut start = 0usize;
    for (i, &length) in lengths.iter().enumerate() {
        let length = usize::try_from(length)
            .map_err(|_| invalid!("`lengths`[{i}] is {length} but must not be negative"))?;
        ensure!(
            length <= rows - start,
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {} and value's shape is: {}",
            lengths.iter().fold(0i64, |sum, l| sum.saturating_add(*l)),
            value.shape();
            "`lengths`[{i}] is {length} but of {rows} rows only {} are left",
            rows - start
        );
        start += length;
    }
    ensure!(
        start == rows,
        "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {start} and value's shape is: {}",
        value.shape();
        "`lengths` sum to {start} but `value` has {rows} rows"
    );
    array.mark_len(lengths.len());
    let mut start = 0;
    let parts = lengths.iter().enumerate().map(|(i, &length)| {
        let part = value.rows(start, length as usize)?;
        start += length as usize;
        Ok((i as i64, part))
    });
    write(cx, parts)?;
    flow_on(cx, 3, 0);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (grows, mut dlist) = (tensor_arrays::grows(cx)?, cx.grad(0));
    cx.give(3, dlist);
    if cx.wants(1) {
        let (lengths, dtype, shape) = (cx.input(2), cx.dtype(1), cx.input_shape(1));
        if grows {
            dlist = cx.call("TensorListResize", [dlist, cx.call("Size", [lengths])]);
        }
        // The element shape has an unknown first dimension; `lengths` gives the length of each part.
        let row = tensor_arrays::row_shape(cx, 1);
        let item = cx.op("ConcatV2").input([-1]).input(row).input(0).output();
        let whole = cx.op("TensorListConcatV2").inputs([dlist, item, lengths]).attr("element_dtype", dtype);
        cx.give(1, whole.output().set_shape(shape));
    }
    Ok(())
}

cases! {
    splits: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayReadV3(a, 1, TensorArraySplitV3(a, [1 2 3], i64 [1 2], f); dtype=i32) = [2 3]",
    grows: "a f <- TensorArrayV3(1; dtype=i32, dynamic_size=true) | TensorArraySizeV3(a, TensorArraySplitV3(a, [1 2], i64 [1 1], f)) = 2",
    infers: "TensorArraySplitV3(resource[], f32[?], i64[?], f32[]) : f32[]",
    a_part_each: "a f <- TensorArrayV3(2; dtype=i32, tensor_array_name=\"t\") | TensorArraySplitV3(a, [1 2], i64[1] [2], f) ! TensorArray `t` has 2 elements for 1 parts",
    too_many_rows: "a f <- TensorArrayV3(2; dtype=i32) | TensorArraySplitV3(a, [1 2], i64 [1 2], f) ! `lengths`[1] is 2 but of 2 rows only 1 are left",
    too_few_rows: "a f <- TensorArrayV3(2; dtype=i32) | TensorArraySplitV3(a, [1 2], i64 [1 0], f) ! `lengths` sum to 1 but `value` has 2 rows",
    negative: "a f <- TensorArrayV3(2; dtype=i32) | TensorArraySplitV3(a, [1 2], i64 [-1 3], f) ! `lengths`[0] is -1 but must not be negative",
    a_scalar: "TensorArraySplitV3(resource[], f32[], i64[?], f32[]) ! it cannot be split",
}
