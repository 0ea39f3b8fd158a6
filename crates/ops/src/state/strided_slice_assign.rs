//! `StridedSliceAssign`, `ResourceStridedSliceAssign`: `variable[a:b:c, ..] = value`.

use super::target::{VariableArgs, give_back, gives, held, update};
use crate::shared::subscript::{Subscript, inferred, masks};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Error, Result};

pub(crate) fn def() -> [OpDef; 2] {
    [("ResourceStridedSliceAssign", false), ("StridedSliceAssign", true)].map(|(name, by_ref)| {
        let def = OpDef::new(name)
            .doc(
                "Replaces the elements of a variable that StridedSlice would select with the same index by \
                 `value`, which must have their shape.",
            )
            .variable(by_ref, "ref", "T")
            .input("begin", "Index")
            .on_host()
            .input("end", "Index")
            .on_host()
            .input("strides", "Index")
            .on_host()
            .input("value", "T")
            .updated(by_ref, "output_ref", "T")
            .attr("T", AnyType)
            .attr("Index", IndexType);
        masks(def).infer(infer).kernel(Kernel::writes(run))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let variable = held(cx, 0, cx.dtype(4))?;
    // As in TensorFlow, the shape of the value is checked in the run alone: an empty part takes any value.
    if let (Some(index), Some(dims)) = (inferred(cx, 1)?, variable.dims()) {
        index.resolve(dims.iter().copied())?;
    }
    gives(cx, variable);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let index = Subscript::of(cx.attrs(), cx.input(1), cx.input(2), cx.input(3))?;
    let value = cx.input(4);
    update(cx, 0, |held| {
        let shape = held.shape().clone();
        let selection = index.resolve(shape.iter().map(|&d| Some(d)))?;
        let part = selection.full_shape()?;
        if part.elements() == 0 {
            return Ok(());
        }
        if *value.shape() != part {
            let words = format!(
                "sliced l-value shape {part} does not match r-value shape {}. Automatic broadcasting not yet \
                 implemented.",
                value.shape()
            );
            return Err(Error::unimplemented(words).note(format!(
                "`value` has shape {} but the index selects a part of shape {part}; they must be equal",
                value.shape()
            )));
        }
        match selection.strides(&shape) {
            Some(s) => held.in_place().assign_strided(s.offset, &s.strides, s.shape, value),
            None => Ok(()),
        }
    })?;
    give_back(cx);
    Ok(())
}

cases! {
    a_range: "StridedSliceAssign(&[1 2 3 4], [1], [3], [1], [8 9]) = [1 8 9 4]",
    one_element: "ResourceStridedSliceAssign(@[1 2 3 4], [1], [2], [1], 9; shrink_axis_mask=1) = [1 9 3 4]",
    a_column: "ResourceStridedSliceAssign(@f32 [[1 2] [3 4]], [0 1], [0 2], [1 1], f32[2] [5 6]; begin_mask=1, end_mask=1, shrink_axis_mask=2) = f32 [[1 5] [3 6]]",
    nothing_of_a_scalar: "StridedSliceAssign(&[1 2], [1], [1], [1], 7) = [1 2]",
    nothing: "StridedSliceAssign(&[1 2], [1], [1], [1], i32[0] []) = [1 2]",
    keeps_the_shape: "StridedSliceAssign(&f32[?,3], i32[1], i32[1], i32[1], f32[..]) : f32[?,3]",
    shapes_differ: "StridedSliceAssign(&[1 2 3 4], [1], [3], [1], 9) ! `value` has shape [] but the index selects a part of shape [2]",
    needs_a_value: "ResourceStridedSliceAssign(@i32[4], [1], [3], [1], [8 9]) ! before it has a value",
    dtypes_differ: "ResourceStridedSliceAssign(@i32[4] [1 2 3 4], [1], [3], [1], [8.0 9.0]) ! refers to a variable of i32 but f32 is wanted",
}
