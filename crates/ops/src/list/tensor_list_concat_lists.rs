//! `TensorListConcatLists`: concatenation of two lists.

use super::lists::handles;
use crate::shared::lists::as_list;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Tensor, TensorList, Variant, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListConcatLists")
        .doc(
            "Returns a list with the items of `input_a` followed by those of `input_b`. For tensors of \
             lists, lists are concatenated pairwise.",
        )
        .input("input_a", DType::Variant)
        .input("input_b", DType::Variant)
        .output("output", DType::Variant)
        .attr("element_dtype", AnyType)
        .infer(infer)
        .kernel(handles(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = cx.merge(0, 1)?;
    let dtype = cx.attrs().dtype("element_dtype")?;
    // Both have the same element shape, so what is known of either one holds.
    match [0, 1].into_iter().find_map(|i| cx.handle(i)) {
        Some(held) => {
            ensure!(held.dtype == dtype, "the list holds {} but `element_dtype` is {dtype}", held.dtype);
            let other = cx.handle(1).unwrap_or(held);
            let both = held.shape.merge(&other.shape).ok_or_else(|| {
                invalid!("lists of {dtype}{} and of {dtype}{} cannot be joined", held.shape, other.shape)
            })?;
            cx.set_handle(0, dtype, both);
        }
        None => cx.set(0, shape),
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.attrs().dtype("element_dtype")?;
    let (mut a, b) = (cx.take(0), cx.take(1));
    ensure!(a.shape() == b.shape(), "lists in shape {} and in shape {} do not pair up", a.shape(), b.shape());
    if a.variants_mut().is_none() {
        a = Tensor::variants(a.shape().clone(), a.as_variants().unwrap_or_default().to_vec())?;
    }
    let more = b.as_variants().unwrap_or_default();
    for (variant, b) in a.variants_mut().unwrap_or_default().iter_mut().zip(more) {
        let b = as_list(b)?;
        ensure!(
            as_list(variant)?.dtype() == dtype,
            "the list holds {} but `element_dtype` is {dtype}",
            as_list(variant)?.dtype()
        );
        match variant.get_mut::<TensorList>() {
            Some(list) => list.append(b)?,
            None => {
                let mut list = as_list(variant)?.copy()?;
                list.append(b)?;
                *variant = Variant::new(list)?;
            }
        }
    }
    cx.set(0, a);
    Ok(())
}

// The gradient's first items are those of `input_a`. The others, which must have one shape, are those of
// `input_b`.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dlist, a, b) = (cx.grad(0), cx.input(0), cx.input(1));
    let [n_a, n_b] = [a, b].map(|list| cx.call("TensorListLength", [list]));
    cx.give(0, cx.call("TensorListResize", [dlist, n_a]));
    let any = cx.graph().element_shape(&PartialShape::unknown());
    let rest = cx.op("Range").input(n_a).input(n_a + n_b).input(1).output();
    let items = cx
        .op("TensorListGather")
        .inputs([dlist, rest, any])
        .attr("element_dtype", cx.attrs().dtype("element_dtype")?);
    cx.give(1, cx.call("TensorListFromTensor", [items.output(), any]));
    Ok(())
}

cases! {
    joins: "TensorListStack(TensorListConcatLists(TensorListFromTensor([1 2], -1), TensorListFromTensor([3], -1); element_dtype=i32), -1; element_dtype=i32) = [1 2 3]",
    floats: "TensorListStack(TensorListConcatLists(TensorListFromTensor([[1.0 2.0] [4.0 5.0]], -1), TensorListFromTensor([[3.0 6.0]], -1); element_dtype=f32), -1; \
             element_dtype=f32) = [[1.0 2.0] [4.0 5.0] [3.0 6.0]]",
    one_by_one: "TensorListLength(GatherV2(TensorListConcatLists(Pack(TensorListFromTensor([1 2], -1)), Pack(TensorListFromTensor([3], -1)); element_dtype=i32), 0, 0)) = 3",
    infers: "TensorListConcatLists(variant[?], variant[2]; element_dtype=f32) : variant[2]",
    in_the_same_shape: "TensorListConcatLists(variant[3], variant[2]; element_dtype=f32) ! they must be equal",
    shapes_must_agree: "TensorListConcatLists(TensorListFromTensor([1 2], -1), TensorListFromTensor([3], i32[0] []); element_dtype=i32) \
                        ! dtype and element shape must be the same",
    dtypes_must_agree: "TensorListConcatLists(TensorListFromTensor([1 2], -1), TensorListFromTensor([3], -1); element_dtype=f32) \
                        ! the list holds i32 but `element_dtype` is f32",
}
