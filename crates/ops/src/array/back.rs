//! What gradients of array ops share.

use crate::dims::Dims;
use millstream_graph::Output;
use millstream_graph::op::GradCx;
use millstream_tensor::DType::{self, I32};

/// The sum of all elements.
pub(crate) fn sum_of_all<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    let axes = match x.shape().rank() {
        Some(0) => return x,
        Some(rank) => cx.ints(&(0..rank as i32).collect::<Vec<i32>>()),
        None => cx.op("Range").input(0).input(cx.call("Rank", [x])).input(1).output(),
    };
    cx.call("Sum", [x, axes])
}

/// Integers as i32.
pub(super) fn as_i32<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    as_index(cx, x, I32)
}

/// Integers as another dtype of integers.
pub(super) fn as_index<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, dtype: DType) -> Output<'g> {
    match x.dtype() {
        Ok(own) if own == dtype => x,
        _ => cx.op("Cast").input(x).attr("DstT", dtype).output(),
    }
}

/// The shape of input `i` in a dtype of integers.
pub(super) fn shape_in<'g>(cx: &mut GradCx<'g, '_>, i: usize, dtype: DType) -> Output<'g> {
    match Dims::of_input(cx, i) {
        Dims::Known(dims) if dtype == DType::I64 => {
            cx.graph().constant(dims.into_iter().map(i64::from).collect::<Vec<i64>>())
        }
        dims => as_index(cx, dims.output(cx), dtype),
    }
}
