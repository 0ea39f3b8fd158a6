//! `TensorListResize`: a list cut or extended to a size.

use super::lists::{count, edit, handles};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListResize")
        .doc("Returns the list with `size` items: the last ones are removed, or unwritten ones are appended.")
        .input("input_handle", DType::Variant)
        .input("size", DType::I32)
        .on_host()
        .output("output_handle", DType::Variant)
        .infer(infer)
        .kernel(handles(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    cx.scalar(1)?;
    let n = cx.int(1);
    ensure!(n.is_none_or(|n| 0 <= n), "`size` is {} but must not be negative", n.unwrap_or(0));
    cx.pass(0, 0);
    cx.set(0, millstream_tensor::PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let size = count("size", cx.int(1)?)?;
    edit(cx, |list| list.resize(size))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dlist, list) = (cx.grad(0), cx.input(0));
    cx.give(0, cx.call("TensorListResize", [dlist, cx.call("TensorListLength", [list])]));
    Ok(())
}

cases! {
    cuts: "TensorListStack(TensorListResize(TensorListFromTensor([1 2 3], -1), 1), -1; element_dtype=i32) = [1]",
    fills: "TensorListStack(TensorListResize(TensorListFromTensor([1 2], -1), 3), -1; element_dtype=i32) = [1 2 0]",
    infers: "TensorListStack(TensorListResize(TensorListReserve([2], 1; element_dtype=f32), 5), -1; element_dtype=f32) : f32[?,2]",
    not_negative: "TensorListResize(TensorListFromTensor([1 2], -1), -1) ! `size` is -1 but must not be negative",
    one_number: "TensorListResize(TensorListFromTensor([1 2], -1), [1 2]) ! `size` must be a scalar",
    not_too_many: "TensorListResize(TensorListFromTensor([1 2], -1), 2147483647) ! 2147483647 items are too many",
}
