//! `TensorListFromTensor`: a list of the rows of a tensor.

use super::lists::{element_shape, handles, known_element_shape};
use crate::shared::lists::{rows, unstacked};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, Result, TensorList, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListFromTensor")
        .doc("Returns a list of the rows of `tensor`. The rows share its memory and are not copied.")
        .input("tensor", "element_dtype")
        .input("element_shape", "shape_type")
        .on_host()
        .output("output_handle", DType::Variant)
        .attr("element_dtype", AnyType)
        .attr("shape_type", IndexType)
        .infer(infer)
        .kernel(handles(run))
        .gradient(Gradient::of(grad))
}

// Later items only have to match `element_shape`, whatever the shape of the rows.
fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = known_element_shape(cx, 1)?;
    let tensor = cx.input(0);
    ensure!(tensor.rank() != Some(0), "`tensor` is a scalar: it has no rows to make a list of");
    let row = unstacked(tensor);
    ensure!(shape.is_compatible(&row), "rows of shape {row} do not fit `element_shape` {shape}");
    cx.set_handle(0, cx.dtype(0), shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let shape = element_shape(cx, 1)?;
    let tensor = cx.take(0);
    ensure!(tensor.rank() > 0, "`tensor` is a scalar: it has no rows to make a list of");
    let list = TensorList::try_of(tensor.dtype(), shape, rows(&tensor).map(|row| row.map(Some)))?;
    cx.set(0, list.into_tensor()?);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dlist, dtype, shape) = (cx.grad(0), cx.dtype(0), cx.input_shape(0));
    let item = cx.graph().element_shape(&unstacked(&shape));
    let stack = cx.op("TensorListStack").input(dlist).input(item).attr("element_dtype", dtype).output();
    cx.give(0, stack.set_shape(shape));
    Ok(())
}

cases! {
    rows_become_items: "TensorListGetItem(TensorListFromTensor([[1 2] [3 4]], [2]), 0, -1; element_dtype=i32) = [1 2]",
    no_rows: "TensorListLength(TensorListFromTensor(f32[0,2] [], -1)) = 0",
    infers: "TensorListGetItem(TensorListFromTensor(f32[?,2], [-1]), i32[], -1; element_dtype=f32) : f32[?]",
    a_scalar_has_no_rows: "TensorListFromTensor(1.0, -1) ! it has no rows",
    shapes_must_fit: "TensorListFromTensor([[1] [2]], [2]) ! rows of shape [1] do not fit `element_shape` [2]",
    shape_is_no_matrix: "TensorListFromTensor([[1] [2]], [[1]]) ! `element_shape` must be a scalar or a vector but has shape [1,1]",
}
