//! What gradients of reductions share: a reduced value, brought back to the shape of what was reduced.

use millstream_graph::Output;
use millstream_graph::op::GradCx;

/// `y`, of the output's shape, along the reduced axes as often as there were elements: has the shape of input 0.
pub(super) fn stretched<'g>(cx: &mut GradCx<'g, '_>, y: Output<'g>) -> Output<'g> {
    let kept = with_reduced_axes(cx, y);
    let shape = cx.shape_of_input(0);
    cx.call("BroadcastTo", [kept, shape])
}

/// `y`, of the output's shape, with length 1 along the reduced axes.
pub(super) fn with_reduced_axes<'g>(cx: &mut GradCx<'g, '_>, y: Output<'g>) -> Output<'g> {
    if cx.attrs().bool("keep_dims").unwrap_or(false) {
        return y;
    }
    let shape = cx.shape_of_input(0);
    let axes = cx.input(1);
    // The input's shape with ones put in at the axes.
    let rank = cx.call("Size", [shape]);
    let axes = cx.op("Cast").input(axes).attr("DstT", millstream_tensor::DType::I32).output();
    let axes = cx.op("Reshape").input((axes + rank) % rank).input([-1]).output();
    let all = cx.op("Range").input(0).input(rank).input(1).output();
    let counts = cx.call("Shape", [axes]);
    let ones = cx.op("Fill").input(counts).input(1).output();
    let kept = cx.op("DynamicStitch").inputs([all, axes, shape, ones]).attr("N", 2).output();
    cx.call("Reshape", [y, kept])
}
