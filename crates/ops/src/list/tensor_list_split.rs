//! `TensorListSplit`: a list of the parts of a tensor.

use super::lists::{element_shape, handles, known_element_shape};
use crate::shared::lists::{stacked, unstacked};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, TensorList, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListSplit")
        .doc(
            "Returns a list of parts of `tensor` along its first axis: item `i` has `lengths[i]` rows. The \
             parts share its memory and are not copied.",
        )
        .input("tensor", "element_dtype")
        .input("element_shape", "shape_type")
        .on_host()
        .input("lengths", DType::I64)
        .on_host()
        .output("output_handle", DType::Variant)
        .attr("element_dtype", AnyType)
        .attr("shape_type", IndexType)
        .infer(infer)
        .kernel(handles(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(2)?;
    let shape = known_element_shape(cx, 1)?;
    let tensor = cx.input(0);
    ensure!(tensor.rank() != Some(0), "`tensor` is a scalar: it cannot be split");
    ensure!(
        shape.rank() != Some(0),
        "by `element_shape` the items are scalars: parts have a first dimension"
    );
    let part = stacked(None, &unstacked(tensor));
    ensure!(shape.is_compatible(&part), "parts of shape {part} do not fit `element_shape` {shape}");
    cx.set_handle(0, cx.dtype(0), shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let shape = element_shape(cx, 1)?;
    let lengths = cx.ints(2)?;
    ensure!(cx.input(2).rank() == 1, "`lengths` must be a vector but has shape {}", cx.input(2).shape());
    let tensor = cx.take(0);
    let rows = *tensor.shape().first().ok_or_else(|| invalid!("`tensor` is a scalar: it cannot be split"))?;
    let mut start = 0usize;
    let parts = lengths.iter().enumerate().map(|(i, &length)| {
        let length = usize::try_from(length)
            .map_err(|_| invalid!("`lengths`[{i}] is {length} but must not be negative"))?;
        ensure!(
            length <= rows - start,
            "`lengths`[{i}] is {length} but of {rows} rows only {} are left",
            rows - start
        );
        start += length;
        tensor.rows(start - length, length).map(Some)
    });
    let list = TensorList::try_of(tensor.dtype(), shape, parts)?;
    ensure!(start == rows, "`lengths` sum to {start} but `tensor` has {rows} rows");
    cx.set(0, list.into_tensor()?);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dlist, lengths) = (cx.grad(0), cx.input(2));
    let shape = cx.input_shape(0);
    let item = match shape.dims() {
        Some([_, rest @ ..]) => PartialShape::new([None].into_iter().chain(rest.iter().copied())),
        _ => PartialShape::unknown(),
    };
    let item = cx.graph().element_shape(&item);
    let dtensor =
        cx.op("TensorListConcatV2").inputs([dlist, item, lengths]).attr("element_dtype", cx.dtype(0));
    cx.give(0, dtensor.output());
    Ok(())
}

cases! {
    splits: "TensorListGetItem(TensorListSplit([1 2 3], -1, i64 [1 2]), 1, -1; element_dtype=i32) = [2 3]",
    empty_parts: "TensorListGetItem(TensorListSplit([1 2 3], [-1], i64 [0 3]), 0, -1; element_dtype=i32) = i32[0] []",
    nothing_in_one_part: "TensorListGetItem(TensorListSplit(f32[0] [], -1, i64[1] [0]), 0, -1; element_dtype=f32) = f32[0] []",
    infers: "TensorListGetItem(TensorListSplit(f32[?,3], [-1 -1], i64[?]), 0, -1; element_dtype=f32) : f32[?,?]",
    too_few: "TensorListSplit([1 2 3], -1, i64 [1 1]) ! `lengths` sum to 2 but `tensor` has 3 rows",
    too_many: "TensorListSplit([1 2 3], -1, i64 [1 5]) ! `lengths`[1] is 5 but of 3 rows only 2 are left",
    negative: "TensorListSplit([1 2 3], -1, i64 [-1 4]) ! `lengths`[0] is -1 but must not be negative",
    zero_alone: "TensorListSplit([1 2 3], -1, i64[1] [0]) ! `lengths` sum to 0 but `tensor` has 3 rows",
    a_scalar: "TensorListSplit(1, -1, i64[1] [1]) ! it cannot be split",
    scalar_items: "TensorListSplit([1 2], i32[0] [], i64[1] [2]) ! by `element_shape` the items are scalars",
    shapes_must_fit: "TensorListSplit([1 2 3], [2 2], i64 [1 2]) ! parts of shape [?] do not fit `element_shape` [2,2]",
    lengths_must_fit: "TensorListSplit([1 2 3], [2], i64 [1 2]) ! a list of i32[2] cannot hold an item of i32[1]",
    one_length_for_each: "TensorListSplit([1 2 3], -1, i64 3) ! `lengths` must have rank 1 but has shape []",
}
