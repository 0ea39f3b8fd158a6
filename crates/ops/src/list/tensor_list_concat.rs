//! `TensorListConcat`, `TensorListConcatV2`: concatenation of all items along their first axis.

use super::lists::{copies, element_shape, known_element_shape, known_list, typed_list};
use crate::shared::lists::{join, merge, stacked, unstacked};
use millstream_graph::op::spec::{AnyShape, AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, PartialShape, Result, Shape, Tensor, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Concatenates all items along their first axis, and returns the length of each along it. The \
               other dimensions must be equal. In V2, an unwritten item is zeros whose length is given by \
               `leading_dims` or by the element shape.";
    let old = OpDef::new("TensorListConcat").input("input_handle", DType::Variant);
    let new = OpDef::new("TensorListConcatV2")
        .input("input_handle", DType::Variant)
        .input("element_shape", "shape_type")
        .on_host()
        .input("leading_dims", DType::I64)
        .on_host();
    let def = |def: OpDef| {
        def.doc(doc)
            .output("tensor", "element_dtype")
            .output("lengths", DType::I64)
            .attr("element_dtype", AnyType)
            .infer(infer)
            .kernel(copies(run))
            .gradient(Gradient::of(grad))
    };
    [
        def(old).attr("element_shape", AnyShape.or(PartialShape::unknown())),
        def(new).attr("shape_type", IndexType),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let list = known_list(cx, 0, cx.attrs().dtype("element_dtype")?)?;
    let wanted = match cx.n_inputs() {
        1 => cx.attrs().shape("element_shape")?.clone(),
        _ => {
            cx.vector(2)?;
            known_element_shape(cx, 1)?
        }
    };
    let whole = stacked(None, &row(&list, &wanted)?);
    cx.set(0, whole);
    cx.set(1, PartialShape::unknown_of_rank(1));
    Ok(())
}

/// Returns the shape of the items without their first dimension.
fn row(list: &PartialShape, wanted: &PartialShape) -> Result<PartialShape> {
    for shape in [list, wanted] {
        ensure!(
            shape.rank() != Some(0),
            "the items are scalars: they cannot follow each other along an axis"
        );
    }
    // An unknown rank must not become a known one.
    merge(&unstacked(list), &unstacked(wanted))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let list = typed_list(cx)?;
    let (wanted, leading) = match cx.n_inputs() {
        1 => (cx.attrs().shape("element_shape")?.clone(), Default::default()),
        _ => (element_shape(cx, 1)?, cx.ints(2)?),
    };
    let mut row = row(list.element_shape(), &wanted)?;
    let items = list.items()?;
    for (i, item) in items.iter().enumerate().filter_map(|(i, item)| Some((i, item.as_ref()?))) {
        let shape = item.shape();
        ensure!(shape.rank() > 0, "item {i} is a scalar: it cannot follow the others along an axis");
        row = row.merge(&shape[1..].into()).ok_or_else(|| {
            invalid!("item {i} has shape {shape}, expected {row} after the first dimension")
        })?;
    }
    let full = row.full().ok_or_else(|| {
        invalid!("no item has been written, and the item shape after the first dimension, {row}, is not fully known")
    })?;
    // TensorListConcat ignores the first dimension of `element_shape`.
    let first = list.element_shape().dim(0).or(if cx.n_inputs() > 1 { wanted.dim(0) } else { None });
    let (mut lengths, mut total) = (Charged::with_room(list.len())?, 0usize);
    for (i, item) in items.iter().enumerate() {
        let length = match item {
            Some(item) => {
                let length = item.shape()[0];
                let wanted = if cx.n_inputs() > 1 { wanted.dim(0) } else { None };
                ensure!(
                    wanted.is_none_or(|w| w == length),
                    "item {i} has {length} rows but `element_shape` is [{},..]",
                    wanted.unwrap_or(0)
                );
                length
            }
            None => match leading.get(i) {
                Some(&length) => usize::try_from(length)
                    .map_err(|_| invalid!("`leading_dims`[{i}] is {length} but must not be negative"))?,
                None => first.ok_or_else(|| {
                    invalid!("item {i} has not been written, and `leading_dims` does not give its length")
                })?,
            },
        };
        lengths.push(length)?;
        total = total.checked_add(length).ok_or_else(|| invalid!("too many rows"))?;
    }
    let size = full.checked_elements()?;
    let whole = Shape::new(std::iter::once(total).chain(full.iter().copied()));
    whole.checked_elements()?;
    let shared = match items.iter().all(Option::is_some) {
        true => Tensor::spliced(items.iter().flatten(), &whole),
        false => None,
    };
    let out = match shared {
        Some(shared) => shared,
        None => {
            let items = items.iter().zip(&*lengths);
            join(list.dtype(), whole, items.map(|(item, length)| (item.as_ref(), length * size)))?
        }
    };
    let lengths = Tensor::from_iter([lengths.len()], lengths.iter().map(|n| *n as i64))?;
    cx.set(0, out);
    cx.set(1, lengths);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dtensor, lengths) = (cx.grad(0), cx.output(1));
    let rest = cx.output_shape(0);
    let item = match rest.dims() {
        Some([_, rest @ ..]) => PartialShape::new([None].into_iter().chain(rest.iter().copied())),
        _ => PartialShape::unknown(),
    };
    let item = cx.graph().element_shape(&item);
    cx.give(0, cx.call("TensorListSplit", [dtensor, item, lengths]));
    Ok(())
}

cases! {
    concatenates: "TensorListConcat(TensorListPushBack(TensorListPushBack(EmptyTensorList(-1, -1; element_dtype=i32), [1 2]), [3]); element_dtype=i32) = [1 2 3], i64 [2 1]",
    newer_form: "TensorListConcatV2(TensorListFromTensor([[1 2] [3 4]], -1), [-1], i64[0] []; element_dtype=i32) = [1 2 3 4], i64 [2 2]",
    first_dimension_says_nothing: "TensorListConcat(TensorListSplit([1 2 3], -1, i64 [2 1]); element_dtype=i32, element_shape=shape[2]) = [1 2 3], i64 [2 1]",
    nothing: "TensorListConcatV2(EmptyTensorList([5 2], -1; element_dtype=f32), -1, i64[0] []; element_dtype=f32) = f32[0,2] [], i64[0] []",
    unwritten_are_zeros: "TensorListConcatV2(TensorListResize(TensorListSplit([1 2 3], -1, i64 [2 1]), 3), -1, i64 [9 9 2]; element_dtype=i32) = [1 2 3 0 0], i64 [2 1 2]",
    unwritten_of_known_shape: "TensorListConcatV2(TensorListReserve([1 2], 2; element_dtype=i32), -1, i64[0] []; element_dtype=i32) = [[0 0] [0 0]], i64 [1 1]",
    infers: "TensorListConcat(TensorListReserve([-1 3], 1; element_dtype=f32); element_dtype=f32) : f32[?,3], i64[?]",
    infers_from_the_shape: "TensorListConcatV2(variant[], [2 -1], i64[?]; element_dtype=f32) : f32[?,?], i64[?]",
    infers_nothing: "TensorListConcat(variant[]; element_dtype=f32) : f32[..], i64[?]",
    scalars: "TensorListConcat(TensorListFromTensor([1 2], -1); element_dtype=i32) ! item 0 is a scalar",
    scalar_shape: "TensorListConcat(TensorListFromTensor([[1] [2]], -1); element_dtype=i32, element_shape=shape[]) ! the items are scalars",
    scalar_shape_input: "TensorListConcatV2(TensorListFromTensor([[1] [2]], -1), i32[0] [], i64[0] []; element_dtype=i32) ! the items are scalars",
    shape_contradicts: "TensorListConcatV2(TensorListSplit([1 2 3], -1, i64 [2 1]), [2], i64[0] []; element_dtype=i32) ! item 1 has 1 rows but `element_shape` is [2,..]",
    shape_of_another_rank: "TensorListConcat(TensorListFromTensor([[1] [2]], -1); element_dtype=i32, element_shape=shape[?,3]) ! expected [3] after the first dimension",
    nothing_of_unknown_shape: "TensorListConcat(EmptyTensorList(-1, -1; element_dtype=f32); element_dtype=f32) ! [..], is not fully known",
    unwritten: "TensorListConcat(TensorListResize(TensorListFromTensor([[1] [2]], -1), 3); element_dtype=i32) ! item 2 has not been written",
    negative: "TensorListConcatV2(TensorListReserve([-1], 1; element_dtype=i32), -1, i64[1] [-2]; element_dtype=i32) ! `leading_dims`[0] is -2 but must not be negative",
    overflow: "TensorListConcatV2(TensorListReserve([-1 4], 1; element_dtype=i32), -1, i64[1] [4611686018427387904]; element_dtype=i32) ! more elements than fit in 63 bits",
}
