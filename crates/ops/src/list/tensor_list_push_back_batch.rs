//! `TensorListPushBackBatch`: appends an item to each of several lists.

use super::lists::handles;
use crate::shared::lists::as_list;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Tensor, TensorList, Variant, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListPushBackBatch")
        .doc("Appends row `i` of `tensor` to list `i` of the vector `input_handles`.")
        .input("input_handles", DType::Variant)
        .input("tensor", "element_dtype")
        .output("output_handles", DType::Variant)
        .attr("element_dtype", AnyType)
        .infer(infer)
        .kernel(handles(run))
        .gradient(Gradient::none("as in TensorFlow, what lists in a tensor hold counts as constant"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (n, rows) = (cx.vector(0)?, cx.input(1).dim(0));
    ensure!(cx.input(1).rank() != Some(0), "`tensor` is a scalar: it has no rows");
    if let (Some(n), Some(rows)) = (n, rows) {
        ensure!(n == rows, "`tensor` has {rows} rows for {n} lists");
    }
    cx.set(0, [n.or(rows)]);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (mut lists, tensor) = (cx.take(0), cx.take(1));
    let rows = tensor.shape().first().copied();
    let n = lists.elements();
    ensure!(
        lists.rank() == 1 && rows == Some(n),
        "`tensor` of shape {} has no row for each of the lists in `input_handles` of shape {}",
        tensor.shape(),
        lists.shape()
    );
    if lists.variants_mut().is_none() {
        let shared = lists.as_variants().ok_or_else(|| invalid!("`input_handles` must hold lists"))?;
        lists = Tensor::variants([n], shared.to_vec())?;
    }
    for (i, variant) in lists.variants_mut().unwrap_or_default().iter_mut().enumerate() {
        let row = tensor.row(i)?;
        match variant.get_mut::<TensorList>() {
            Some(list) => list.push(row)?,
            None => {
                let mut list = as_list(variant)?.copy()?;
                list.push(row)?;
                *variant = Variant::new(list)?;
            }
        }
    }
    cx.set(0, lists);
    Ok(())
}

cases! {
    pushes: "TensorListLength(GatherV2(TensorListPushBackBatch(Pack(TensorListFromTensor([1 2], -1), TensorListFromTensor([3], -1)), [5 6]), 1, 0)) = 2",
    shares: "TensorListStack(GatherV2(TensorListPushBackBatch(Pack(TensorListFromTensor([1 2], -1), TensorListFromTensor([3], -1)), [5 6]), 0, 0), -1; element_dtype=i32) = [1 2 5]",
    infers: "TensorListPushBackBatch(variant[?], f32[4,?]) : variant[4]",
    a_row_each: "TensorListPushBackBatch(variant[2], f32[3]) ! `tensor` has 3 rows for 2 lists",
    rows_are_wanted: "TensorListPushBackBatch(variant[2], f32[]) ! it has no rows",
}
