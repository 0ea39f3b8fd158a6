//! `TensorArrayScatter` and its newer forms: writes the rows of a tensor to selected elements.

use super::tensor_arrays::{self, HandleArg, array, elements, flow_on, kernel, versions, write};
use crate::shared::lists::{rows, unstacked};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, InferCx, KernelCx, OpDef, grown};
use millstream_tensor::{DType, PartialShape, Result, ensure};

pub(crate) fn def() -> [OpDef; 3] {
    versions(["TensorArrayScatter", "TensorArrayScatterV2", "TensorArrayScatterV3"]).map(|(name, by)| {
        OpDef::new(name)
            .doc(
                "Writes row `i` of `value` to element `indices[i]`. The rows share its memory and are not \
                 copied.",
            )
            .handle_in(by, "handle")
            .input("indices", DType::I32)
            .on_host()
            .input("value", "T")
            .input("flow_in", DType::F32)
            .output("flow_out", DType::F32)
            .attr("T", AnyType)
            .infer(infer)
            .kernel(kernel(run))
            .gradient(tensor_arrays::gradient(by, grad))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let n = cx.vector(1)?;
    cx.scalar(3)?;
    let (shape, value) = (elements(cx, cx.dtype(2))?, cx.input(2));
    ensure!(value.rank() != Some(0), "`value` is a scalar: it has no rows to write");
    if let (Some(rows), Some(n)) = (value.dim(0), n) {
        ensure!(rows == n, "{}", millstream_tensor::unequal(rows, n); "`value` has {rows} rows for {n} indices");
    }
    let row = unstacked(value);
    ensure!(shape.is_compatible(&row), "Inconsistent shapes: saw {} but expected {}", row.as_tuple(), shape.as_tuple(); "rows of shape {row} are written to a TensorArray of elements of shape {shape}");
    cx.set(0, PartialShape::scalar());
    Ok(())
}

/// Returns TensorFlow's message for indices outside an array of this size.
fn beyond(indices: &[i64], len: usize) -> String {
    let (least, most) = (indices.iter().min().unwrap_or(&0), indices.iter().max().unwrap_or(&0));
    match least < &0 {
        true => "Indices in scatter must be >= 0".to_owned(),
        false => format!("Max scatter index must be < array size ({most} vs. {len})"),
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (indices, value) = (cx.ints(1)?, cx.take(2));
    ensure!(
        cx.input(1).rank() == 1 && value.shape().first() == Some(&indices.len()),
        "`value` of shape {} has not a row for each of `indices` of shape {}",
        value.shape(),
        cx.input(1).shape()
    );
    // All indices are checked first, so that nothing is written if one is invalid.
    let array = array(cx)?;
    let len = array.len()?;
    if let Some(bad) = indices.iter().find(|i| **i < 0 || !array.has_dynamic_size() && len as i64 <= **i) {
        return Err(
            millstream_tensor::invalid!("{}", beyond(&indices, len); "{array:?}: index {bad} cannot be written: there are {len} elements"),
        );
    }
    write(cx, indices.into_iter().zip(rows(&value)).map(|(index, row)| Ok((index, row?))))?;
    flow_on(cx, 3, 0);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (grows, mut dlist) = (tensor_arrays::grows(cx)?, cx.grad(0));
    cx.give(3, dlist);
    if cx.wants(2) {
        let (indices, dtype, shape) = (cx.input(1), cx.dtype(2), cx.input_shape(2));
        if grows {
            let last = cx.op("Max").input(indices).input([0]).attr("keep_dims", false).output();
            dlist = grown(dlist, last);
        }
        let item = tensor_arrays::row_shape(cx, 2);
        let rows = cx.op("TensorListGather").inputs([dlist, indices, item]).attr("element_dtype", dtype);
        cx.give(2, rows.output().set_shape(shape));
    }
    Ok(())
}

cases! {
    scatters: "a f <- TensorArrayV3(3; dtype=i32) | TensorArrayReadV3(a, 2, TensorArrayScatterV3(a, [0 2], [[1 2] [3 4]], f); dtype=i32) = [3 4]",
    by_reference: "a <- TensorArray(2; dtype=i32) | TensorArrayGather(a, [1 0], TensorArrayScatter(a, [0 1], [5 6], 0.0); dtype=i32) = [6 5]",
    grows: "a f <- TensorArrayV3(0; dtype=i32, dynamic_size=true) | TensorArraySizeV3(a, TensorArrayScatterV3(a, [4 0], [1 2], f)) = 5",
    infers: "TensorArrayScatterV3(resource[], i32[?], f32[?,2], f32[]) : f32[]",
    out_of_range: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayScatterV3(a, [4 0], [1 2], f) ! index 4 cannot be written: there are 2 elements",
    before_the_first: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayScatterV3(a, [-1 0], [1 2], f) ! index -1 cannot be written",
    far_away: "a f <- TensorArrayV3(2; dtype=i32, dynamic_size=true) | TensorArrayScatterV3(a, [2147483647 0], [1 2], f) ! items are too many",
    twice: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayScatterV3(a, [1 1], [1 2], f) ! it has been written already",
    a_row_each: "TensorArrayScatterV3(resource[], i32[2], f32[3], f32[]) ! `value` has 3 rows for 2 indices",
    a_scalar_has_no_rows: "TensorArrayScatterV3(resource[], i32[2], f32[], f32[]) ! it has no rows",
}
