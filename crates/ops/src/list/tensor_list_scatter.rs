//! `TensorListScatter`, `TensorListScatterV2`: a list with the rows of a tensor at given indices.

use super::lists::{count, element_shape, handles, known_element_shape, place};
use crate::shared::lists::{rows, unstacked};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, Result, TensorList, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    [("TensorListScatter", false), ("TensorListScatterV2", true)].map(|(name, sized)| {
        let def = OpDef::new(name)
            .doc(
                "Returns a list whose item `indices[i]` is row `i` of `tensor`. Items at other indices are \
                 unwritten. The length is `num_elements` if there is such an input and it is not -1; \
                 otherwise it is the greatest index plus one.",
            )
            .input("tensor", "element_dtype")
            .input("indices", DType::I32)
            .on_host()
            .input("element_shape", "shape_type")
            .on_host();
        let def = if sized { def.input("num_elements", DType::I32).on_host() } else { def };
        def.output("output_handle", DType::Variant)
            .attr("element_dtype", AnyType)
            .attr("shape_type", IndexType)
            .infer(infer)
            .kernel(handles(run))
            .gradient(Gradient::of(grad))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    check_rows(cx)?;
    let shape = known_element_shape(cx, 2)?;
    if cx.n_inputs() > 3 {
        cx.scalar(3)?;
    }
    let row = unstacked(cx.input(0));
    ensure!(shape.is_compatible(&row), "rows of shape {row} do not fit `element_shape` {shape}");
    cx.set_handle(0, cx.dtype(0), shape);
    Ok(())
}

/// Checks that `tensor` (input 0) has as many rows as `indices` (input 1) has entries, as far as they are
/// known.
pub(super) fn check_rows(cx: &InferCx) -> Result<()> {
    let (tensor, n) = (cx.input(0), cx.input(1).elements());
    ensure!(tensor.rank() != Some(0), "`tensor` is a scalar: it has no rows to make items of");
    if let (Some(rows), Some(n)) = (tensor.dim(0), n) {
        ensure!(rows == n, "`tensor` has {rows} rows for {n} indices");
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let wanted = if cx.n_inputs() > 3 { cx.int(3)? } else { -1 };
    let mut list = TensorList::new(cx.input(0).dtype(), element_shape(cx, 2)?);
    if wanted != -1 {
        list.resize(count("num_elements", wanted)?)?;
    }
    scatter(cx, 0, &mut list, wanted == -1)?;
    cx.set(0, list.into_tensor()?);
    Ok(())
}

/// Writes the rows of input `i` to the items at the indices in input `i + 1`. If `grows`, the list is
/// extended as needed.
pub(super) fn scatter(cx: &KernelCx, i: usize, list: &mut TensorList, grows: bool) -> Result<()> {
    let (tensor, indices) = (cx.input(i), cx.ints(i + 1)?);
    let n = tensor.shape().first().copied();
    ensure!(
        n == Some(indices.len()),
        "`tensor` of shape {} has not a row for each of {} indices",
        tensor.shape(),
        indices.len()
    );
    if grows && let Some(&last) = indices.iter().max() {
        let len = place(last, usize::MAX)? + 1;
        list.resize(len.max(list.len()))?;
    }
    for (row, &index) in rows(tensor).zip(&indices) {
        list.set(place(index, list.len())?, row?)?;
    }
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dlist, indices) = (cx.grad(0), cx.input(1));
    let item = cx.graph().element_shape(&unstacked(&cx.input_shape(0)));
    let rows = cx.op("TensorListGather").inputs([dlist, indices, item]).attr("element_dtype", cx.dtype(0));
    cx.give(0, rows.output());
    Ok(())
}

cases! {
    scatters: "TensorListStack(TensorListScatter([[1 2] [3 4]], [2 0], -1), -1; element_dtype=i32) = [[3 4] [0 0] [1 2]]",
    the_last_one_stays: "TensorListStack(TensorListScatter([1 2], [0 0], -1), -1; element_dtype=i32) = [2]",
    a_length: "TensorListLength(TensorListScatterV2([1 2], [0 1], -1, 5)) = 5",
    no_length: "TensorListLength(TensorListScatterV2([1 2], [3 1], -1, -1)) = 4",
    nothing: "TensorListLength(TensorListScatter(f32[0] [], i32[0] [], -1)) = 0",
    infers: "TensorListGetItem(TensorListScatter(f32[?,2], i32[?], [-1]), i32[], -1; element_dtype=f32) : f32[?]",
    a_row_each: "TensorListScatter([1 2], [0], -1) ! `tensor` has 2 rows for 1 indices",
    not_negative: "TensorListScatter([1 2], [0 -1], -1) ! index -1 is out of range for a list",
    too_short: "TensorListScatterV2([1 2], [0 1], -1, 1) ! index 1 is out of range for a list of length 1",
    negative_length: "TensorListScatterV2([1 2], [0 1], -1, -2) ! `num_elements` is -2 but must not be negative",
    far_away: "TensorListScatter([1], [2147483647], -1) ! items are too many",
    shapes_must_fit: "TensorListScatter([1 2], [0 1], [2]) ! rows of shape [] do not fit `element_shape` [2]",
    shape_is_no_matrix: "TensorListScatterV2([1 2], [0 1], [[2]], 2) ! `element_shape` must be a scalar or a vector but has shape [1,1]",
    a_scalar_has_no_rows: "TensorListScatter(1, [0], -1) ! it has no rows",
}
