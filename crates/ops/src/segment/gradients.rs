//! Helpers for the gradients of segment ops: rows of the output, brought back to the rows of the input.

use crate::shared::dims::Dims;
use millstream_graph::Output;
use millstream_graph::op::GradCx;
use millstream_tensor::{DType, Result};

/// Returns, for each row of the input, the row of `x` that belongs to its segment.
pub(super) fn of_segment<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, ids: Output<'g>) -> Output<'g> {
    cx.op("GatherV2").input(x).input(ids).input(0).output()
}

/// As [`of_segment`], but rows with a negative segment id are zeros.
pub(super) fn of_segment_or_zeros<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, ids: Output<'g>) -> Output<'g> {
    let rows = of_segment(cx, x, clipped(cx, ids));
    let has = has_segment(cx, ids, rows);
    cx.call("SelectV2", [has, rows, scalar(cx, x, 0.0)])
}

/// Returns segment ids with negative ones replaced by 0.
pub(super) fn clipped<'g>(cx: &GradCx<'g, '_>, ids: Output<'g>) -> Output<'g> {
    cx.call("Maximum", [ids, scalar(cx, ids, 0.0)])
}

/// Returns whether segment ids are not negative, with axes of size 1 added to broadcast to `rows`.
pub(super) fn has_segment<'g>(cx: &GradCx<'g, '_>, ids: Output<'g>, rows: Output<'g>) -> Output<'g> {
    let has = cx.call("GreaterEqual", [ids, scalar(cx, ids, 0.0)]);
    if let (Some(from), Some(to)) = (ids.shape().rank(), rows.shape().rank()) {
        return (from..to).fold(has, |has, _| cx.op("ExpandDims").input(has).input(-1).output());
    }
    let rank = |x: Output<'g>| cx.call("Rank", [x]);
    let missing = cx.op("Reshape").input(rank(rows) - rank(has)).input([1]).output();
    let ones = cx.op("Fill").input(missing).input(1).output();
    let shape = cx.op("ConcatV2").input(cx.call("Shape", [has])).input(ones).input(0).output();
    cx.call("Reshape", [has, shape])
}

/// Returns a number in the dtype of `like`.
pub(super) fn scalar<'g>(cx: &GradCx<'g, '_>, like: Output<'g>, value: f64) -> Output<'g> {
    cx.scalar(like.dtype().unwrap_or(DType::F32), value)
}

/// Returns the number of rows of each segment, at least 1, in a shape that broadcasts to `dy`.
pub(super) fn counts<'g>(cx: &GradCx<'g, '_>, dy: Output<'g>, ids: Output<'g>) -> Output<'g> {
    let ones = cx.op("Fill").input(cx.call("Shape", [ids])).input(scalar(cx, dy, 1.0)).output();
    let segments = Dims::of(cx, dy).part(cx, 0, Some(1)).scalar(cx);
    let counts = cx.call("UnsortedSegmentSum", [ones, ids, segments]);
    // Segments without rows get a count too, but it is never used.
    let counts = counts_of_one_at_least(cx, counts);
    match dy.shape().rank() {
        Some(rank) => (1..rank).fold(counts, |c, _| cx.op("ExpandDims").input(c).input(-1).output()),
        None => {
            let missing = cx.op("Reshape").input(cx.call("Rank", [dy]) - 1).input([1]).output();
            let ones = cx.op("Fill").input(missing).input(1).output();
            let shape = cx.op("ConcatV2").input(cx.ints(&[-1])).input(ones).input(0).output();
            cx.call("Reshape", [counts, shape])
        }
    }
}

fn counts_of_one_at_least<'g>(cx: &GradCx<'g, '_>, counts: Output<'g>) -> Output<'g> {
    if counts.dtype().is_ok_and(DType::is_complex) {
        return counts;
    }
    cx.call("Maximum", [counts, scalar(cx, counts, 1.0)])
}

/// The gradient of a maximum or minimum: all rows of a segment that equal it share its gradient.
pub(super) fn to_extremes(cx: &mut GradCx) -> Result<()> {
    let (dy, x, ids, y) = (cx.grad(0), cx.input(0), cx.input(1), cx.output(0));
    let unsorted = cx.n_inputs() == 3;
    let places = if unsorted { clipped(cx, ids) } else { ids };
    let mut chosen = cx.call("Equal", [x, of_segment(cx, y, places)]);
    if unsorted {
        chosen = cx.call("LogicalAnd", [chosen, has_segment(cx, ids, x)]);
    }
    let each = cx.op("Cast").input(chosen).attr("DstT", cx.dtype(0)).output();
    let counts = match unsorted {
        true => {
            let segments = cx.input(2);
            cx.call("UnsortedSegmentSum", [each, ids, segments])
        }
        false => cx.call("SegmentSum", [each, ids]),
    };
    // A segment without rows is never read, but its gradient must not be NaN.
    let counts = cx.call("Maximum", [counts, scalar(cx, counts, 1.0)]);
    let rows = of_segment(cx, dy / counts, places);
    cx.give(0, cx.call("SelectV2", [chosen, rows, scalar(cx, dy, 0.0)]));
    Ok(())
}

/// The gradient of a product over segments. The derivative by an element is the product of the others of its
/// segment. If one of them is zero, only its own derivative is not zero; if two are, all are zero.
pub(super) fn through_products(cx: &mut GradCx) -> Result<()> {
    let (dy, x, ids, y) = (cx.grad(0), cx.input(0), cx.input(1), cx.output(0));
    let (x, y) = (cx.conj(x), cx.conj(y));
    let unsorted = cx.n_inputs() == 3;
    let places = if unsorted { clipped(cx, ids) } else { ids };
    let segments = match unsorted {
        true => cx.input(2),
        false => Dims::of(cx, dy).part(cx, 0, Some(1)).scalar(cx),
    };
    let (zero, one) = (scalar(cx, dy, 0.0), scalar(cx, dy, 1.0));
    let is_zero = cx.call("Equal", [x, zero]);
    let each = cx.op("Cast").input(is_zero).attr("DstT", DType::I32).output();
    let zeros = cx.call("UnsortedSegmentSum", [each, ids, segments]);
    let many = cx.op("Greater").input(zeros).input(1).output();
    let dy = cx.call("SelectV2", [many, zero, dy]);
    let others = cx.call("SelectV2", [is_zero, one, x]);
    let others = cx.call("UnsortedSegmentProd", [others, ids, segments]);
    // The quotient is not used where x is zero, but its own gradient must not be NaN there.
    let quotient = of_segment(cx, y, places) / cx.call("SelectV2", [is_zero, one, x]);
    let partial = cx.call("SelectV2", [is_zero, of_segment(cx, others, places), quotient]);
    let dy = if unsorted { of_segment_or_zeros(cx, dy, ids) } else { of_segment(cx, dy, ids) };
    cx.give(0, dy * partial);
    Ok(())
}

/// Gives the selected rows the gradients of their segments. As in TensorFlow the gradient is dense.
pub(super) fn to_chosen_rows<'g>(cx: &mut GradCx<'g, '_>, dy: Output<'g>) {
    let (indices, ids) = (cx.input(1), cx.input(2));
    let rows = Dims::part_of_input(cx, 0, 0, Some(1)).scalar(cx);
    cx.give(0, cx.call("UnsortedSegmentSum", [of_segment(cx, dy, ids), indices, rows]));
}
