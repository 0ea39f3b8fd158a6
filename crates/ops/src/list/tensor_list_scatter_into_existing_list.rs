//! `TensorListScatterIntoExistingList`: writes the rows of a tensor to items of a list.

use super::lists::{check_unwritten, edit, handles, is_array, known_list, list, may_grow};
use super::tensor_list_scatter::scatter;
use crate::shared::lists::unstacked;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, Result, TensorList, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListScatterIntoExistingList")
        .doc(
            "Returns the list with row `i` of `tensor` as item `indices[i]`. The list is extended as \
             needed.",
        )
        .input("input_handle", DType::Variant)
        .input("tensor", "element_dtype")
        .input("indices", DType::I32)
        .on_host()
        .output("output_handle", DType::Variant)
        .attr("element_dtype", AnyType)
        .infer(infer)
        .kernel(handles(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let dtype = cx.dtype(1);
    let shape = known_list(cx, 0, dtype)?;
    let row = unstacked(cx.input(1));
    ensure!(cx.input(1).rank() != Some(0), "`tensor` is a scalar: it has no rows to make items of");
    ensure!(shape.is_compatible(&row), "a list of {dtype}{shape} cannot hold items of {dtype}{row}");
    cx.set_handle(0, dtype, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    // All rows are checked first, so that the list is unchanged if one of them is invalid.
    let mut rows = TensorList::new(cx.input(1).dtype(), millstream_tensor::PartialShape::unknown());
    scatter(cx, 1, &mut rows, true)?;
    let len = list(cx, 0)?.len();
    if len < rows.len() && !may_grow(cx) {
        return Err(invalid!("index {} is out of range for a TensorArray of size {len}", rows.len() - 1));
    }
    for i in (0..rows.len()).filter(|&i| rows.is_written(i)) {
        check_unwritten(cx, i as i64)?;
    }
    edit(cx, |list| {
        let rows = rows.items()?;
        rows.iter().flatten().try_for_each(|row| list.admit(row))?;
        list.resize(list.len().max(rows.len()))?;
        for (i, row) in rows.iter().enumerate() {
            row.as_ref().map_or(Ok(()), |row| list.set(i, row.clone()))?;
        }
        Ok(())
    })
}

// The rows get the gradient of the replaced items, and the list gets zero there. In a TensorArray nothing was
// replaced.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dlist, indices) = (cx.grad(0), cx.input(2));
    if cx.wants(0) && is_array(cx.attrs()) {
        cx.give(0, dlist);
    } else if cx.wants(0) {
        let zeros = cx.zeros_like_input(1);
        cx.give(0, cx.call("TensorListScatterIntoExistingList", [dlist, zeros, indices]));
    }
    if cx.wants(1) {
        let item = cx.graph().element_shape(&unstacked(&cx.input_shape(1)));
        let rows =
            cx.op("TensorListGather").inputs([dlist, indices, item]).attr("element_dtype", cx.dtype(1));
        cx.give(1, rows.output());
    }
    Ok(())
}

cases! {
    writes: "TensorListStack(TensorListScatterIntoExistingList(TensorListFromTensor([1 2], -1), [7 8], [1 3]), -1; element_dtype=i32) = [1 7 0 8]",
    an_array_keeps_its_size: "TensorListScatterIntoExistingList(TensorListReserve(-1, 2; element_dtype=i32), [7], [2]; _tensor_array_grows=false) ! index 2 is out of range for a TensorArray of size 2",
    an_array_is_written_once: "TensorListScatterIntoExistingList(TensorListFromTensor([1 2], -1), [7], [0]; _tensor_array_grows=true) ! element 0 of the TensorArray has been written already",
    infers: "TensorListScatterIntoExistingList(variant[], f32[?,2], i32[?]) : variant[]",
    not_negative: "TensorListScatterIntoExistingList(TensorListFromTensor([1 2], -1), [7 8], [1 -1]) ! index -1 is out of range for a list",
    a_row_each: "TensorListScatterIntoExistingList(TensorListFromTensor([1 2], -1), [7 8], [1]) ! has not a row for each of 1 indices",
    shapes_must_fit: "TensorListScatterIntoExistingList(TensorListReserve([2], 1; element_dtype=i32), [7 8], [1 2]) ! a list of i32[2] cannot hold items of i32[]",
}
