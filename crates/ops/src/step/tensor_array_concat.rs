//! `TensorArrayConcat` and its newer forms: concatenation of all elements along their first axis.

use super::tensor_arrays::{self, HandleArg, elements, kernel, shown, typed_array, versions};
use crate::shared::lists::{join, stacked, unstacked};
use millstream_graph::op::spec::{AnyShape, AnyType, Spec};
use millstream_graph::op::{GradCx, InferCx, KernelCx, OpDef};
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Error, PartialShape, Result, Shape, Tensor, ensure, invalid};

pub(crate) fn def() -> [OpDef; 3] {
    versions(["TensorArrayConcat", "TensorArrayConcatV2", "TensorArrayConcatV3"]).map(|(name, by)| {
        OpDef::new(name)
            .doc(
                "Concatenates all elements along their first axis, and returns the length of each along it. \
                 The other dimensions must be equal.",
            )
            .handle_in(by, "handle")
            .input("flow_in", DType::F32)
            .output("value", "dtype")
            .output("lengths", DType::I64)
            .attr("dtype", AnyType)
            .attr("element_shape_except0", AnyShape.or(PartialShape::unknown()))
            .infer(infer)
            .kernel(kernel(run))
            .gradient(tensor_arrays::gradient(by, grad))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    let held = elements(cx, cx.attrs().dtype("dtype")?)?;
    ensure!(held.rank() != Some(0), "the elements are scalars: they cannot follow each other along an axis");
    let (held, wanted) = (unstacked(&held), cx.attrs().shape("element_shape_except0")?);
    let row = held.merge(wanted);
    let row = row.ok_or_else(|| {
        invalid!("the elements have rows of shape {held} but `element_shape_except0` is {wanted}")
    })?;
    cx.set(0, stacked(None, &row));
    cx.set(1, PartialShape::unknown_of_rank(1));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let array = typed_array(cx, "dtype")?;
    let wanted = cx.attrs().shape("element_shape_except0")?;
    let values = array.read(0..array.whole_len()? as i64)?;
    let row = match values.first() {
        None => wanted.full().ok_or_else(|| {
            Error::unimplemented(format!("{array:?} is empty, and the shape of its rows is not known beyond {wanted}")).led_by(format!(
                "TensorArray has size zero, but element_shape_except0 {} is not fully defined. Currently only static shapes are supported when concatenating zero-size TensorArrays.",
                shown(wanted)
            ))
        })?,
        Some(first) => Shape::from(first.shape().get(1..).unwrap_or_default()),
    };
    let mut lengths = Charged::with_room(values.len())?;
    for (i, value) in values.iter().enumerate() {
        let [length, rest @ ..] = value.shape().dims() else {
            return Err(
                invalid!("Concat saw a scalar shape at index {i} but requires at least vectors.  Did you mean to call pack?"; "{array:?}: index {i} is a scalar: it cannot follow the others along an axis"),
            );
        };
        ensure!(
            *rest == *row && wanted.admits(&row),
            "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: {row} but index {i} has (excepting dimension 0) shape: {}",
            Shape::from(rest);
            "{array:?}: index {i} has shape {}, expected {} after the first dimension",
            value.shape(),
            if wanted.admits(&row) { PartialShape::from(&row) } else { wanted.clone() }
        );
        lengths.push(*length as i64)?;
    }
    let total = values.iter().map(|v| v.shape()[0]).fold(0, usize::saturating_add);
    let whole = Shape::new(std::iter::once(total).chain(row.iter().copied()));
    whole.checked_elements()?;
    let out = match Tensor::spliced(values.iter(), &whole) {
        Some(shared) => shared,
        None => join(array.dtype(), whole, values.iter().map(|v| (Some(v), v.elements())))?,
    };
    cx.set(0, out);
    cx.set(1, Tensor::vector(&lengths)?);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    tensor_arrays::grows(cx)?;
    let (dvalue, lengths) = (cx.grad(0), cx.output(1));
    let part = cx.graph().element_shape(&stacked(None, &unstacked(&cx.output_shape(0))));
    cx.give(1, cx.call("TensorListSplit", [dvalue, part, lengths]));
    Ok(())
}

cases! {
    concatenates: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayConcatV3(a, TensorArraySplitV3(a, [1 2 3], i64 [1 2], f); dtype=i32) = [1 2 3], i64 [1 2]",
    by_name: "a <- TensorArrayV2(2; dtype=i32) | TensorArrayConcatV2(a, TensorArraySplitV2(a, [1 2 3], i64 [1 2], 0.0); dtype=i32) = [1 2 3], i64 [1 2]",
    nothing: "a f <- TensorArrayV3(0; dtype=f32) | TensorArrayConcatV3(a, f; dtype=f32, element_shape_except0=shape[2]) = f32[0,2] [], i64[0] []",
    infers: "a f <- TensorArrayV3(0; dtype=f32, element_shape=shape[4,3]) | TensorArrayConcatV3(a, f32[]; dtype=f32) : f32[?,3], i64[?]",
    infers_nothing: "TensorArrayConcatV3(resource[], f32[]; dtype=f32) : f32[..], i64[?]",
    nothing_of_unknown_shape: "a f <- TensorArrayV3(0; dtype=f32) | TensorArrayConcatV3(a, f; dtype=f32) ! the shape of its rows is not known beyond [..]",
    scalars: "a f <- TensorArrayV3(1; dtype=f32) | TensorArrayConcatV3(a, TensorArrayWriteV3(a, 0, 1.0, f); dtype=f32) ! index 0 is a scalar",
    shapes_differ: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayConcatV3(a, TensorArrayWriteV3(a, 0, [[1]], TensorArrayWriteV3(a, 1, [[1 2]], f)); dtype=i32) \
                    ! index 1 has shape [1,2], expected [1] after the first dimension",
    another_shape: "a f <- TensorArrayV3(1; dtype=i32) | TensorArrayConcatV3(a, TensorArrayWriteV3(a, 0, [[1]], f); dtype=i32, element_shape_except0=shape[3]) \
                    ! expected [3] after the first dimension",
    no_handle: "TensorArrayConcatV2(['a' 'b'], 0.0; dtype=f32) ! container `a` holds nothing under the name `b`",
}
