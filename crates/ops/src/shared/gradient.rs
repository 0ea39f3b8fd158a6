//! Nodes that gradients of several families add: sums, shapes, casts, parts of complex numbers.

use super::dims::Dims;
use millstream_graph::Output;
use millstream_graph::op::GradCx;
use millstream_tensor::DType::{self, BF16, C64, C128, F16, F32, F64, I32, I64};

/// Returns the sum of all elements.
pub(crate) fn sum_of_all<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    let axes = match x.shape().rank() {
        Some(0) => return x,
        Some(rank) => cx.ints(&(0..rank as i32).collect::<Vec<i32>>()),
        None => cx.op("Range").input(0).input(cx.call("Rank", [x])).input(1).output(),
    };
    cx.call("Sum", [x, axes])
}

/// Casts integers to i32.
pub(crate) fn as_i32<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    as_index(cx, x, I32)
}

/// Casts integers to another integer dtype.
pub(crate) fn as_index<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, dtype: DType) -> Output<'g> {
    match x.dtype() {
        Ok(own) if own == dtype => x,
        _ => cx.op("Cast").input(x).attr("DstT", dtype).output(),
    }
}

/// Returns the shape of input `i` as integers of `dtype`.
pub(crate) fn shape_in<'g>(cx: &mut GradCx<'g, '_>, i: usize, dtype: DType) -> Output<'g> {
    match Dims::of_input(cx, i) {
        Dims::Known(dims) if dtype == I64 => {
            cx.graph().constant(dims.into_iter().map(i64::from).collect::<Vec<i64>>())
        }
        dims => as_index(cx, dims.output(cx), dtype),
    }
}

/// Calls an op of two floats that has no kernel for half-precision floats; these are computed in f32.
pub(crate) fn at_least_single<'g>(
    cx: &GradCx<'g, '_>,
    op: &'static str,
    inputs: [Output<'g>; 2],
) -> Output<'g> {
    let cast = |x, to| cx.op("Cast").input(x).attr("DstT", to).output();
    match inputs[0].dtype() {
        Ok(half @ (F16 | BF16)) => cast(cx.call(op, inputs.map(|x| cast(x, F32))), half),
        _ => cx.call(op, inputs),
    }
}

/// Returns `op`, which is `Real` or `Imag`, of complex numbers.
pub(crate) fn part<'g>(cx: &GradCx<'g, '_>, op: &'static str, x: Output<'g>) -> Output<'g> {
    let wide = matches!(x.dtype(), Ok(C128));
    cx.op(op).input(x).attr("Tout", if wide { F64 } else { F32 }).output()
}

/// Returns complex numbers with these parts.
pub(crate) fn whole<'g>(cx: &GradCx<'g, '_>, re: Output<'g>, im: Output<'g>) -> Output<'g> {
    let wide = matches!(re.dtype(), Ok(F64));
    cx.op("Complex").input(re).input(im).attr("Tout", if wide { C128 } else { C64 }).output()
}

/// Returns real numbers cast to complex ones.
pub(crate) fn whole_of_real<'g>(cx: &GradCx<'g, '_>, re: Output<'g>) -> Output<'g> {
    let wide = matches!(re.dtype(), Ok(F64));
    cx.op("Cast").input(re).attr("DstT", if wide { C128 } else { C64 }).output()
}
