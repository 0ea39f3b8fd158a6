//! Helpers for the gradients of reductions: values of the output's shape, brought back to the shape of the
//! input.

use crate::shared::dims::Dims;
use millstream_graph::Output;
use millstream_graph::op::GradCx;
use millstream_tensor::DType::I32;

/// Returns `y`, which has the output's shape, repeated along the reduced axes to the shape of input 0.
pub(super) fn stretched<'g>(cx: &mut GradCx<'g, '_>, y: Output<'g>) -> Output<'g> {
    // Leading axes are added by broadcasting.
    let leading = reduced_axes(cx).is_some_and(|axes| axes.iter().enumerate().all(|(i, &axis)| i == axis));
    let kept = if leading { y } else { with_reduced_axes(cx, y) };
    let shape = cx.shape_of_input(0);
    cx.call("BroadcastTo", [kept, shape])
}

/// Returns `y`, which has the output's shape, with size 1 along the reduced axes.
pub(super) fn with_reduced_axes<'g>(cx: &mut GradCx<'g, '_>, y: Output<'g>) -> Output<'g> {
    if cx.attrs().bool("keep_dims").unwrap_or(false) {
        return y;
    }
    if let Some([axis]) = cx.known_ints(1).as_deref() {
        return cx.op("ExpandDims").input(y).input(*axis as i32).output();
    }
    if let Some(axes) = reduced_axes(cx) {
        return axes.iter().fold(y, |y, &axis| cx.op("ExpandDims").input(y).input(axis as i32).output());
    }
    let (all, axes) = all_and_reduced_axes(cx);
    // The input's shape with ones at the reduced axes.
    let shape = cx.shape_of_input(0);
    let counts = cx.call("Shape", [axes]);
    let ones = cx.op("Fill").input(counts).input(1).output();
    let kept = cx.op("DynamicStitch").inputs([all, axes, shape, ones]).attr("N", 2).output();
    cx.call("Reshape", [y, kept])
}

/// Returns the reduced axes in order, counted from the front, if they are known.
pub(super) fn reduced_axes(cx: &GradCx) -> Option<Vec<usize>> {
    let rank = cx.input_shape(0).rank()?;
    let axes = cx.known_ints(1)?;
    let from_front = |&axis: &i64| usize::try_from(if axis < 0 { axis + rank as i64 } else { axis }).ok();
    let mut axes: Vec<usize> = axes.iter().map(from_front).collect::<Option<_>>()?;
    axes.sort_unstable();
    axes.dedup();
    Some(axes)
}

/// Returns the numbers of all axes and of the reduced ones, counted from the front, computed in the run.
pub(super) fn all_and_reduced_axes<'g>(cx: &mut GradCx<'g, '_>) -> (Output<'g>, Output<'g>) {
    let shape = cx.shape_of_input(0);
    let axes = cx.input(1);
    let rank = cx.call("Size", [shape]);
    let axes = cx.op("Cast").input(axes).attr("DstT", I32).output();
    let axes = cx.op("Reshape").input((axes + rank) % rank).input([-1]).output();
    (cx.op("Range").input(0).input(rank).input(1).output(), axes)
}

/// Returns the number of elements that each element of the output was reduced from, as a scalar of the
/// input's dtype.
pub(super) fn count<'g>(cx: &mut GradCx<'g, '_>) -> Output<'g> {
    let dtype = cx.dtype(0);
    let of = |shape: millstream_tensor::PartialShape| shape.full().map(|s| s.elements());
    if let (Some(all), Some(left)) = (of(cx.input_shape(0)), of(cx.output_shape(0))) {
        return cx.scalar(dtype, (all / left.max(1)) as f64);
    }
    let size = |dims: Dims<'g>, cx: &GradCx<'g, '_>| dims.product(cx).scalar(cx);
    let all = Dims::of_input(cx, 0);
    let left = cx.shape_of_output(0);
    let (all, left) = (size(all, cx), size(Dims::Made(left), cx));
    let one = cx.graph().constant(1i32);
    let count = cx.call("FloorDiv", [all, cx.call("Maximum", [left, one])]);
    cx.op("Cast").input(count).attr("DstT", dtype).output()
}

/// The gradient of a maximum or minimum: all elements that equal it share its gradient.
pub(super) fn to_extremes(cx: &mut GradCx) -> millstream_tensor::Result<()> {
    let (dy, x, y) = (cx.grad(0), cx.input(0), cx.output(0));
    let (dy, y) = (with_reduced_axes(cx, dy), with_reduced_axes(cx, y));
    let chosen = cx.op("Cast").input(cx.call("Equal", [y, x])).attr("DstT", cx.dtype(0)).output();
    let axes = cx.input(1);
    let count = cx.op("Sum").input(chosen).input(axes).attr("keep_dims", true).output();
    cx.give(0, chosen / count * dy);
    Ok(())
}
