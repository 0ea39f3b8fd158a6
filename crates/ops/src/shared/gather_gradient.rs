//! The gradient of a gather along an axis.

use super::dims::Dims;
use super::gradient::as_index;
use millstream_graph::Output;
use millstream_graph::op::GradCx;

/// The sizes of a gather along an axis, viewed with four axes: the batch, the axes outside the gathered one,
/// the gathered axis, and the axes inside it.
pub(crate) struct Sizes<'g> {
    batches: Dims<'g>,
    outer: Dims<'g>,
    n: Dims<'g>,
    inner: Dims<'g>,
    /// The number of slices taken from each batch.
    taken: Dims<'g>,
}

impl<'g> Sizes<'g> {
    /// Sizes for an axis that is known while the graph is built.
    pub(crate) fn at(cx: &mut GradCx<'g, '_>, params: &Dims<'g>, axis: i32, batch: i32) -> Self {
        let part = |from, to| params.part(cx, from, to).product(cx);
        let (outer, n, inner) = (part(batch, Some(axis)), part(axis, Some(axis + 1)), part(axis + 1, None));
        let batches = Dims::part_of_input(cx, 1, 0, Some(batch)).product(cx);
        let taken = Dims::part_of_input(cx, 1, batch, None).product(cx);
        Sizes { batches, outer, n, inner, taken }
    }

    /// Sizes for an axis that is computed in the run.
    pub(crate) fn made(cx: &mut GradCx<'g, '_>, params: &Dims<'g>, axis: Output<'g>, batch: i64) -> Self {
        let (params, indices) = (params.output(cx), cx.shape_of_input(1));
        let one = |x: Output<'g>| cx.op("Reshape").input(x).input([1]).output();
        let (rank, last) = (one(cx.call("Size", [params])), one(cx.call("Size", [indices])));
        let axis = (one(axis) + rank) % rank;
        let batch = if batch < 0 { last + batch as i32 } else { cx.ints(&[batch as i32]) };
        let part = |dims: Output<'g>, from: Output<'g>, to: Output<'g>| {
            Dims::Made(cx.op("StridedSlice").inputs([dims, from, to]).input([1]).output()).product(cx)
        };
        Sizes {
            batches: part(indices, cx.ints(&[0]), batch),
            outer: part(params, batch, axis),
            n: part(params, axis, axis + 1),
            inner: part(params, axis + 1, rank),
            taken: part(indices, batch, last),
        }
    }
}

/// Returns the gradient of a gather along an axis, as a tensor of the four axes of [`Sizes`].
pub(crate) fn along<'g>(cx: &mut GradCx<'g, '_>, sizes: Sizes<'g>) -> Output<'g> {
    let (dy, mut indices) = (cx.grad(0), cx.input(1));
    let Sizes { batches, outer, n, inner, taken } = sizes;
    let shaped = |cx: &GradCx<'g, '_>, x, dims: &[&Dims<'g>]| {
        let dims: Vec<Dims<'g>> = dims.iter().map(|&d| d.clone()).collect();
        cx.call("Reshape", [x, Dims::joined(cx, &dims).output(cx)])
    };
    let turned = |cx: &GradCx<'g, '_>, x| match outer.is_one() {
        true => x,
        false => cx.op("Transpose").input(x).input([0, 2, 1, 3]).output(),
    };
    let four = shaped(cx, dy, &[&batches, &outer, &taken, &inner]);
    let row = Dims::joined(cx, &[outer.clone(), inner.clone()]).product(cx);
    let rows = Dims::joined(cx, &[batches.clone(), taken.clone()]).product(cx);
    let values = shaped(cx, turned(cx, four), &[&rows, &row]);
    let all = Dims::joined(cx, &[batches.clone(), n.clone()]).product(cx).scalar(cx);
    if !batches.is_one() {
        // Index i of batch b is row b * n + i of all batches.
        let starts = cx.op("Range").input(0).input(batches.scalar(cx)).input(1).output() * n.scalar(cx);
        let starts = cx.op("ExpandDims").input(as_index(cx, starts, cx.dtype(1))).input(1).output();
        indices = shaped(cx, indices, &[&batches, &taken]) + starts;
    }
    let indices = cx.op("Reshape").input(indices).input([-1]).output();
    let sums = cx.call("UnsortedSegmentSum", [values, indices, all]);
    let four = shaped(cx, sums, &[&batches, &n, &outer, &inner]);
    turned(cx, four)
}
