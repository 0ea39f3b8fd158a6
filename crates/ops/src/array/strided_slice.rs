//! `StridedSlice`: slicing as in `x[a:b:c, ..., new, i]`.

use crate::shared::axes::{element, empty};
use crate::shared::gradient::shape_in;
use crate::shared::subscript::masks_of;
use crate::shared::subscript::{Selection, Subscript, inferred, masks};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, Known, OpDef};
use millstream_tensor::{Result, Tensor};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("StridedSlice")
        .doc(
            "Returns a strided slice of `input`. Entry `i` of the index selects `begin[i]..end[i]` in steps \
             of `strides[i]`. Bit `i` of a mask changes the meaning of entry `i`: `begin_mask` and \
             `end_mask` ignore its begin or end, `ellipsis_mask` makes it an ellipsis, `new_axis_mask` \
             inserts an axis of size 1, and `shrink_axis_mask` selects a single position and removes the \
             axis.",
        )
        .input("input", "T")
        .input("begin", "Index")
        .on_host()
        .input("end", "Index")
        .on_host()
        .input("strides", "Index")
        .on_host()
        .output("output", "T")
        .attr("T", AnyType)
        .attr("Index", IndexType);
    masks(def).infer(infer).kernel(Kernel::pure(run)).gradient(Gradient::of(grad))
}

// A dimension is known if the numbers that determine it are. Known entries of shapes are propagated.
fn infer(cx: &mut InferCx) -> Result<()> {
    let Some(index) = inferred(cx, 1)? else { return Ok(()) };
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    let selection = index.resolve(dims.iter().copied())?;
    cx.set(0, selection.shape());
    if let Some(known) = cx.known(0).and_then(|k| slice_of(k, &selection)) {
        cx.set_known(0, known);
    }
    Ok(())
}

/// Returns the slice of a known vector, if the result is a vector or a scalar.
fn slice_of(known: &Known, selection: &Selection) -> Option<Known> {
    let ([axis], false) = (selection.axes.as_slice(), selection.out.contains(&None)) else { return None };
    let entries = known.entries()?;
    let places = (0..axis.size?).map(|k| axis.begin.checked_add(axis.stride.checked_mul(k as i64)?));
    let picked = places.map(|p| Some(*entries.get(usize::try_from(p?).ok()?)?)).collect::<Option<_>>()?;
    Some(Known::Partial { entries: picked, scalar: axis.shrunk })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let index = Subscript::of(cx.attrs(), cx.input(1), cx.input(2), cx.input(3))?;
    let selection = index.resolve(cx.input(0).shape().iter().map(|&d| Some(d)))?;
    let input = cx.take(0);
    let out = select(input, &selection)?;
    cx.set(0, out);
    Ok(())
}

/// Returns the selected elements. They are shared with the input if they are whole rows, or all of it.
fn select(input: Tensor, selection: &Selection) -> Result<Tensor> {
    let shape = selection.full_shape()?;
    if selection.axes.iter().all(|a| a.whole) {
        return input.into_shape(shape);
    }
    let Some(s) = selection.strides(input.shape()) else { return empty(input.dtype(), shape) };
    if shape.rank() == 0 {
        return element(&input, s.offset as usize);
    }
    match selection.axes.split_first() {
        Some((first, rest)) if first.stride == 1 && rest.iter().all(|a| a.whole) => {
            input.rows(first.begin as usize, s.shape[0])?.into_shape(shape)
        }
        _ => input.strided(s.shape, s.offset, &s.strides)?.into_shape(shape),
    }
}

// The gradient is zero outside the slice.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let shape = shape_in(cx, 0, cx.dtype(1));
    let index = [cx.input(1), cx.input(2), cx.input(3)];
    let dx = cx.op("StridedSliceGrad").input(shape).inputs(index).input(dy);
    cx.give(0, masks_of(cx, dx)?.output());
    Ok(())
}

cases! {
    a_range: "StridedSlice([1 2 3 4 5], [1], [4], [1]) = [2 3 4]",
    by_twos: "StridedSlice([1 2 3 4 5], i64[1] [0], i64[1] [5], i64[1] [2]) = [1 3 5]",
    backwards: "StridedSlice([1 2 3 4 5], [-1], [-6], [-2]) = [5 3 1]",
    reversed_by_masks: "StridedSlice([1 2 3], [0], [0], [-1]; begin_mask=1, end_mask=1) = [3 2 1]",
    one_place: "StridedSlice([1 2 3], [-1], [0], [1]; shrink_axis_mask=1) = 3",
    a_string: "StridedSlice(['a' 'b'], [1], [2], [1]; shrink_axis_mask=1) = 'b'",
    a_row: "StridedSlice([[1 2] [3 4]], [1], [2], [1]; shrink_axis_mask=1) = [3 4]",
    a_column: "StridedSlice([[1 2] [3 4]], [0 1], [0 2], [1 1]; begin_mask=1, end_mask=1, shrink_axis_mask=2) = [2 4]",
    ellipsis: "StridedSlice([[[1 2] [3 4]]], [0 1], [0 2], [1 1]; ellipsis_mask=1) = [[[2] [4]]]",
    axes_after_an_ellipsis: "StridedSlice([[1 2] [3 4]], [0 0 1], [0 0 2], [1 1 1]; ellipsis_mask=1, new_axis_mask=2) = [[[2]] [[4]]]",
    new_axes: "StridedSlice([1 2], [0 0 0], [0 0 0], [1 1 1]; new_axis_mask=5, begin_mask=2, end_mask=2) = [[[1] [2]]]",
    new_axis_wins_over_shrink: "StridedSlice([1 2], [0], [0], [1]; new_axis_mask=1, shrink_axis_mask=1) = [[1 2]]",
    clamps: "StridedSlice([1 2 3], [-10], [10], [1]) = [1 2 3]",
    nothing: "StridedSlice([1 2 3], [2], [1], [1]) = i32[0] []",
    no_entries: "StridedSlice([1 2 3], i32[0] [], i32[0] [], i32[0] []) = [1 2 3]",
    of_a_scalar: "StridedSlice(5, [0], [0], [1]; new_axis_mask=1) = [5]",
    huge_stride: "StridedSlice([1 2 3], i64[1] [1], i64[1] [3], i64[1] [9223372036854775807]) = [2]",
    huge_backward_stride: "StridedSlice([1 2 3], i64[1] [1], i64[1] [-9223372036854775808], i64[1] [-9223372036854775808]) = [2]",
    infers: "StridedSlice(f32[?,5,3], [0 1], [1 4], [1 2]; shrink_axis_mask=1) : f32[2,3]",
    unknown_numbers: "StridedSlice(f32[4,5], i32[1], i32[1], i32[1]) : f32[?,5]",
    unknown_length: "StridedSlice(f32[4,5], i32[?], i32[?], i32[?]) : f32[..]",
    unknown_place: "StridedSlice(f32[?,5], i32[1], i32[1], i32[1]; shrink_axis_mask=1) : f32[5]",
    out_of_bounds: "StridedSlice([1 2 3], [3], [4], [1]; shrink_axis_mask=1) ! index 3 is out of bounds for axis 0 of size 3",
    stride_of_zero: "StridedSlice([1 2 3], [0], [1], [0]) ! the stride of axis 0 is 0",
    single_place_backwards: "StridedSlice([1 2 3], [0], [1], [-1]; shrink_axis_mask=1) ! the stride must be 1",
    too_many: "StridedSlice([1 2 3], [0 0], [1 1], [1 1]) ! entries for 2 axes, but the input has rank 1",
    two_ellipses: "StridedSlice([[1]], [0 0], [1 1], [1 1]; ellipsis_mask=3) ! one ellipsis",
    lengths_differ: "StridedSlice([1], [0], [1 1], [1]) ! `begin` has shape [1] but `end` has [2]",
}
