//! How gradients learn which row became which: the op is run once more, on the numbers of its rows instead of its values.

use millstream_graph::Output;
use millstream_graph::op::GradCx;

/// `count` numbers from `first`, i32.
pub(super) fn numbers<'g>(cx: &GradCx<'g, '_>, first: Output<'g>, count: Output<'g>) -> Output<'g> {
    cx.op("Range").input(first).input(first + count).input(1).output()
}

/// The rows' numbers from 1, so that an op which writes 0 where there is no row tells them apart.
pub(super) fn numbers_from_one<'g>(cx: &GradCx<'g, '_>, rows: Output<'g>) -> Output<'g> {
    numbers(cx, cx.graph().constant(1), cx.call("Size", [rows]))
}
