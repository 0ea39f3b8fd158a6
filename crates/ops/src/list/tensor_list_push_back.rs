//! `TensorListPushBack`: appends an item to a list.

use super::lists::{edit, handles, known_list};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, Lowering, OpDef};
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListPushBack")
        .doc("Returns the list with `tensor` appended. The elements are shared and not copied.")
        .input("input_handle", DType::Variant)
        .input("tensor", "element_dtype")
        .output("output_handle", DType::Variant)
        .attr("element_dtype", AnyType)
        .infer(infer)
        .kernel(handles(run).lowered(|_| Some(Lowering::PushBack)))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let dtype = cx.dtype(1);
    let shape = known_list(cx, 0, dtype)?;
    ensure!(
        shape.is_compatible(cx.input(1)),
        "a list of {dtype}{shape} cannot hold an item of {dtype}{}",
        cx.input(1)
    );
    cx.set_handle(0, dtype, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let item = cx.take(1);
    edit(cx, |list| list.push(item))
}

// A pushed item has its gradient popped.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dlist, dtype) = (cx.grad(0), cx.dtype(1));
    let shape = cx.graph().element_shape(&cx.input_shape(1));
    let pop = cx.op("TensorListPopBack").input(dlist).input(shape).attr("element_dtype", dtype).finish();
    cx.give(0, pop.output(0));
    cx.give(1, pop.output(1).set_shape(cx.input_shape(1)));
    Ok(())
}

cases! {
    pushes: "TensorListStack(TensorListPushBack(TensorListFromTensor([1 2], -1), 3), -1; element_dtype=i32) = [1 2 3]",
    keeps_the_element_shape: "TensorListElementShape(TensorListPushBack(EmptyTensorList(-1, -1; element_dtype=f32), 1.5); shape_type=i32) = -1",
    lists_in_lists: "TensorListLength(TensorListGetItem(TensorListPushBack(EmptyTensorList(i32[0] [], -1; element_dtype=variant), \
                     TensorListFromTensor([1 2], -1)), 0, i32[0] []; element_dtype=variant)) = 2",
    infers: "TensorListPushBack(variant[], f32[?]) : variant[]",
    shapes_must_fit: "TensorListPushBack(EmptyTensorList([2], -1; element_dtype=f32), [1.0]) ! a list of f32[2] cannot hold an item of f32[1]",
    dtypes_must_fit: "TensorListPushBack(EmptyTensorList(-1, -1; element_dtype=f32), 1) ! is a list of f32 but i32 is wanted",
    one_list: "TensorListPushBack(variant[2], 1) ! `input_handle` must be a scalar",
}
