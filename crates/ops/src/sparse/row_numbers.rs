//! Row numbers, with which gradients find out where each row went: the op runs again on the numbers of its
//! rows in place of its values.

use millstream_graph::Output;
use millstream_graph::op::GradCx;

/// Returns `count` i32 numbers from `first` on.
pub(super) fn numbers<'g>(cx: &GradCx<'g, '_>, first: Output<'g>, count: Output<'g>) -> Output<'g> {
    cx.op("Range").input(first).input(first + count).input(1).output()
}

/// Returns the numbers of the rows from 1 on, so that they differ from the 0 that an op writes where there is
/// no row.
pub(super) fn numbers_from_one<'g>(cx: &GradCx<'g, '_>, rows: Output<'g>) -> Output<'g> {
    numbers(cx, cx.graph().constant(1), cx.call("Size", [rows]))
}
