//! `AddN`: the sum of several tensors.

use super::sum_of_many::{common_shape, lowering, run};
use crate::shared::lists;
use crate::shared::sum::sum;
use millstream_graph::op::spec::{AtLeast, OneOf};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, *};
use millstream_tensor::{Result, ensure};

/// The dtypes with a sum: numbers, and lists of them.
const SUMMABLE: &[DType] = &[F32, F64, I32, I64, F16, BF16, I8, I16, U8, U16, U32, U64, C64, C128, Variant];

pub(crate) fn def() -> OpDef {
    OpDef::new("AddN")
        .doc(
            "Computes the sum of all inputs, added from the first to the last. All must have the same \
             shape. Lists are added element by element; an element that was never written counts as zero.",
        )
        .inputs("inputs", "N", "T")
        .output("sum", "T")
        .attr("N", AtLeast(1))
        .attr("T", OneOf(SUMMABLE))
        .infer(infer)
        .kernel(Kernel::pure(run_any).lowered(lowering))
        .gradient(Gradient::of(grad))
}

// Lists must have one dtype; their element shapes are merged.
fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = common_shape(cx)?;
    let mut lists = (0..cx.n_inputs()).map(|i| cx.handle(i));
    let first = lists.next().flatten();
    let merged = first.and_then(|first| {
        let merged = lists.try_fold(first.shape.clone(), |shape, list| shape.merge(&list?.shape));
        Some((first.dtype, merged?))
    });
    match merged {
        Some((dtype, element_shape)) => cx.set_handle(0, dtype, element_shape),
        None => cx.set(0, shape),
    }
    Ok(())
}

fn run_any(cx: &mut KernelCx) -> Result<()> {
    if cx.input(0).dtype() == Variant { add_lists(cx) } else { run(cx) }
}

fn add_lists(cx: &mut KernelCx) -> Result<()> {
    ensure!(cx.n_inputs() > 0, "AddN needs at least one input");
    let mut total = cx.take(0);
    for i in 1..cx.n_inputs() {
        total = lists::add(&total, cx.input(i), &|a, b| {
            let shape = a.shape().clone();
            sum(cx.node.op.name, [a, b], &shape)
        })?;
    }
    cx.set(0, total);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dsum = cx.grad(0);
    (0..cx.n_inputs()).for_each(|i| cx.give(i, dsum));
    Ok(())
}

cases! {
    adds: "AddN([1 2], [10 20], [100 200]) = [111 222]",
    one_is_itself: "AddN(2.5) = 2.5",
    merges_shapes: "AddN(f32[?,3], f32[2,?], f32[..]) : f32[2,3]",
    adds_lists: "TensorListStack(AddN(TensorListFromTensor([1 2], -1), TensorListFromTensor([5 6], -1)), -1; element_dtype=i32) = [6 8]",
    unwritten_adds_nothing: "TensorListStack(AddN(TensorListFromTensor([1 2], -1), TensorListReserve(-1, 2; element_dtype=i32)), -1; element_dtype=i32) = [1 2]",
    merges_element_shapes: "TensorListElementShape(AddN(TensorListReserve([1 -1], 2; element_dtype=i32), TensorListReserve([-1 2], 2; element_dtype=i32)); shape_type=i32) = [1 2]",
    adds_lists_in_lists: "TensorListStack(TensorListGetItem(AddN(\
        TensorListPushBack(EmptyTensorList(i32[0] [], -1; element_dtype=variant), TensorListFromTensor([1 2], -1)), \
        TensorListPushBack(EmptyTensorList(i32[0] [], -1; element_dtype=variant), TensorListFromTensor([3 4], -1))), 0, -1; \
        element_dtype=variant), -1; element_dtype=i32) = [4 6]",
    lists_of_one_length: "AddN(TensorListReserve(-1, 2; element_dtype=i32), TensorListReserve(-1, 3; element_dtype=i32)) ! lists of 2 and of 3 items cannot be added",
    lists_of_one_shape: "AddN(TensorListReserve([1], 2; element_dtype=i32), TensorListReserve([2], 2; element_dtype=i32)) ! element shapes [1] and [2] contradict each other",
    items_of_one_shape: "AddN(TensorListFromTensor([[1 2]], -1), TensorListFromTensor([[5]], -1)) ! i32[2] and i32[1] cannot be added",
    wants_equal_shapes: "AddN([1 2], [1]) ! must be equal",
}
