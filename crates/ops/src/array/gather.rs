//! `Gather` and `GatherV2`: parts of a tensor picked by index along an axis.

use super::back::{as_i32, as_index};
use crate::dims::Dims;
use millstream_graph::IndexedSlices;
use super::axes::{axis, element, entry, joined, product, replaced, scalar};
use millstream_graph::Output;
use millstream_graph::op::spec::{AnyType, Bool, IndexType, Int, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, Known, NodeInfo, OpDef};
use millstream_tensor::{Assembler, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("Gather")
            .doc("The rows of `params` that `indices` names, in the shape of `indices`.")
            .attr("validate_indices", Bool.or(true)),
        OpDef::new("GatherV2")
            .doc(
                "The parts of `params` along `axis` that `indices` names, in the shape of `indices`. The first `batch_dims` axes of \
                 both are walked together.",
            )
            .attr("Taxis", IndexType)
            .attr("batch_dims", Int.or(0i64)),
    ]
    .map(|def| {
        let def = def.input("params", "Tparams").input("indices", "Tindices");
        let def = if def.name == "GatherV2" { def.input("axis", "Taxis").on_host() } else { def };
        def.output("output", "Tparams")
            .attr("Tparams", AnyType)
            .attr("Tindices", IndexType)
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::Estimate(cost))).gradient(Gradient::of(grad))
    })
}

// What is picked, not what it is picked from: a row of a large table is no work for another thread.
fn cost(_: &NodeInfo, inputs: &[Tensor]) -> f64 {
    let (Some(params), Some(indices)) = (inputs.first(), inputs.get(1)) else { return 0.0 };
    let axis = inputs.get(2).and_then(|axis| axis.to_scalar::<i32>().ok()).unwrap_or(0);
    let axis = if axis < 0 { axis + params.rank() as i32 } else { axis };
    let along = usize::try_from(axis).ok().and_then(|axis| params.shape().dims().get(axis).copied());
    params.elements() as f64 / along.unwrap_or(1).max(1) as f64 * indices.elements() as f64
}

/// How many axes are walked together; a negative number counts from the back of `indices`.
fn batch_dims(batch: i64, axis: usize, indices_rank: usize) -> Result<usize> {
    let from_front = if batch < 0 { batch + indices_rank as i64 } else { batch };
    match usize::try_from(from_front) {
        Ok(b) if b <= axis && b <= indices_rank => Ok(b),
        _ => Err(invalid!(
            "`batch_dims` is {batch}, but must not be over `axis` ({axis}) nor over the rank of `indices` ({indices_rank})"
        )),
    }
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (mut at, mut batch) = (Some(0), 0);
    if cx.n_inputs() == 3 {
        cx.scalar(2)?;
        (at, batch) = (cx.int(2), cx.attrs().int("batch_dims")?);
    }
    let (Some(params), Some(indices)) = (cx.input(0).dims(), cx.input(1).dims()) else { return Ok(()) };
    let Some(at) = at else {
        let batch = if batch < 0 { batch + indices.len() as i64 } else { batch };
        let rank = (params.len() + indices.len()).checked_sub(usize::try_from(batch).unwrap_or(0) + 1);
        if let Some(rank) = rank {
            cx.set(0, PartialShape::unknown_of_rank(rank));
        }
        return Ok(());
    };
    let least = if at < 0 { at.saturating_neg() } else { at.saturating_add(1) };
    let axis = axis("axis", at, params.len())
        .map_err(|e| e.led_by(format!("Shape must be at least rank {least} but is rank {}", params.len())))?;
    let batch = batch_dims(batch, axis, indices.len())?;
    let (of_params, of_indices) = (
        PartialShape::new(params[..batch].iter().copied()),
        PartialShape::new(indices[..batch].iter().copied()),
    );
    let shared = of_params.merge(&of_indices).ok_or_else(|| {
        invalid!(
            "the first {batch} axes are shared, but are {of_params} of `params` and {of_indices} of `indices`"
        )
    })?;
    let shared = shared.dims().unwrap_or(&[]);
    cx.set(0, joined(&[shared, &params[batch..axis], &indices[batch..], &params[axis + 1..]]));
    if let Some(entries) = cx.known(0).and_then(Known::entries).filter(|_| params.len() == 1)
        && let (Some(places), true) = (cx.ints(1), indices.len() <= 1)
    {
        let picked =
            places.iter().map(|&p| Some(*entries.get(usize::try_from(p).ok()?)?)).collect::<Option<_>>();
        if let Some(entries) = picked {
            cx.set_known(0, Known::Partial { entries, scalar: indices.is_empty() });
        }
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (mut at, mut batch) = (0, 0);
    if cx.n_inputs() == 3 {
        scalar("axis", cx.input(2))?;
        (at, batch) = (cx.int(2)?, cx.attrs().int("batch_dims")?);
    }
    let (params, indices) = (cx.input(0), cx.input(1));
    let rank = params.rank() as i64;
    let axis = axis("axis", at, params.rank()).map_err(|e| match rank {
        0 => e.led_by("params must be at least 1 dimensional"),
        _ => e.led_by(format!("Expected axis in the range [{}, {rank}), but got {at}", -rank)),
    })?;
    let batch = batch_dims(batch, axis, indices.rank())?;
    ensure!(
        params.shape()[..batch] == indices.shape()[..batch],
        "the first {batch} axes are shared, but `params` has shape {} and `indices` {}",
        params.shape(),
        indices.shape()
    );
    let len = params.shape()[axis];
    if params.rank() == 1 && indices.rank() == 0 {
        let out = element(params, place(0, cx.int(1)?, &[], len)?)?;
        cx.set(0, out);
        return Ok(());
    }
    let places = places(&cx.ints(1)?, indices.shape(), len)?;
    let (p, i) = (params.shape(), indices.shape());
    let parts = p[..axis].iter().chain(&i[batch..]).chain(&p[axis + 1..]);
    let shape = Shape::new(parts.copied());
    let blocks = product(&p[..batch]);
    let out = Pick { blocks, outer: product(&p[batch..axis]), len, run: product(&p[axis + 1..]) }
        .pick(params, &places, shape)?;
    cx.set(0, out);
    Ok(())
}

/// The indices as places, each checked to be below `len`.
fn places(indices: &[i64], dims: &[usize], len: usize) -> Result<Vec<usize>> {
    indices.iter().enumerate().map(|(i, &v)| place(i, v, dims, len)).collect()
}

/// Index `i` as a place.
fn place(i: usize, v: i64, dims: &[usize], len: usize) -> Result<usize> {
    let place = usize::try_from(v).ok().filter(|&p| p < len);
    place.ok_or_else(|| invalid!("{} = {v} is not in [0, {len})", entry("indices", dims, i); "`indices` {i} (counted flat) is {v}, which is not in 0..{len}"))
}

/// The places along an axis, in this order.
pub(super) fn take_along(t: &Tensor, axis: usize, places: &[usize]) -> Result<Tensor> {
    let shape = t.shape();
    let pick = Pick {
        blocks: 1,
        outer: product(&shape[..axis]),
        len: shape[axis],
        run: product(&shape[axis + 1..]),
    };
    pick.pick(t, places, replaced(shape, axis, places.len()))
}

/// A tensor seen as `[blocks, outer, len, run]`, of which runs are picked along the third axis.
struct Pick {
    blocks: usize,
    outer: usize,
    len: usize,
    run: usize,
}

impl Pick {
    /// Block `b` picks with the `b`-th share of `places`, all of them below `len`.
    fn pick(&self, t: &Tensor, places: &[usize], shape: Shape) -> Result<Tensor> {
        let &Pick { blocks, outer, len, run } = self;
        if shape.checked_elements()? == 0 {
            return Assembler::new(t.dtype(), shape)?.finish();
        }
        if blocks == 1 && outer == 1 {
            let starts: Vec<usize> = places.iter().map(|p| p * run).collect();
            return t.take_runs(shape, run, &starts);
        }
        let each = places.len() / blocks;
        let starts = (0..blocks).flat_map(|b| {
            let share = &places[b * each..(b + 1) * each];
            (0..outer).flat_map(move |o| share.iter().map(move |p| ((b * outer + o) * len + p) * run))
        });
        if run == 1 && t.dtype().size().is_some() {
            return with_element!(t.dtype(), T => {
                let src = t.as_slice::<T>()?;
                Tensor::from_iter(shape, starts.map(|s| src[s]))
            }, else => Err(invalid!("{} is not plain data", t.dtype())));
        }
        let mut out = Assembler::new(t.dtype(), shape)?;
        for start in starts {
            out.push(t, start, run)?;
        }
        out.finish()
    }
}

// Rows that were taken get what became of them. Of whole rows these are slices; along an inner axis they are summed.
fn grad(cx: &mut GradCx) -> Result<()> {
    let batch = cx.attrs().int("batch_dims").unwrap_or(0);
    let axis = if cx.n_inputs() == 3 { cx.known_ints(2).and_then(|axis| axis.first().copied()) } else { Some(0) };
    if axis == Some(0) && batch == 0 {
        let slices = rows(cx);
        cx.give(0, slices);
        return Ok(());
    }
    let shape = Dims::of_input(cx, 0);
    let ranks = (cx.input_shape(0).rank(), cx.input_shape(1).rank());
    let sizes = match (axis, ranks) {
        (Some(axis), (Some(rank), Some(indices))) => {
            let from_front = |i: i64, rank: usize| if i < 0 { i + rank as i64 } else { i } as i32;
            Sizes::at(cx, &shape, from_front(axis, rank), from_front(batch, indices))
        }
        _ => {
            let axis = cx.input(2);
            let axis = as_i32(cx, axis);
            Sizes::made(cx, &shape, axis, batch)
        }
    };
    let dx = along(cx, sizes);
    cx.give(0, cx.call("Reshape", [dx, shape.output(cx)]));
    Ok(())
}

/// The gradient of whole rows.
fn rows<'g>(cx: &mut GradCx<'g, '_>) -> IndexedSlices<'g> {
    let (mut values, mut indices) = (cx.grad(0), cx.input(1));
    if cx.input_shape(1).rank() != Some(1) {
        let row = Dims::part_of_input(cx, 0, 1, None);
        let shape = Dims::joined(cx, &[Dims::Known(vec![-1]), row]).output(cx);
        values = cx.call("Reshape", [values, shape]);
        indices = cx.op("Reshape").input(indices).input([-1]).output();
    }
    IndexedSlices { values, indices, dense_shape: Some(cx.shape_of_input(0)) }
}

/// A gather along an axis, the first `batch` axes walked together, as one of four axes: the batch, what is outside of the axis, the axis,
/// and what is inside of it.
pub(crate) struct Sizes<'g> {
    batches: Dims<'g>,
    outer: Dims<'g>,
    n: Dims<'g>,
    inner: Dims<'g>,
    /// How many are taken from each batch.
    taken: Dims<'g>,
}

impl<'g> Sizes<'g> {
    /// Where the axis is known.
    pub(crate) fn at(cx: &mut GradCx<'g, '_>, params: &Dims<'g>, axis: i32, batch: i32) -> Self {
        let part = |from, to| params.part(cx, from, to).product(cx);
        let (outer, n, inner) = (part(batch, Some(axis)), part(axis, Some(axis + 1)), part(axis + 1, None));
        let batches = Dims::part_of_input(cx, 1, 0, Some(batch)).product(cx);
        let taken = Dims::part_of_input(cx, 1, batch, None).product(cx);
        Sizes { batches, outer, n, inner, taken }
    }

    /// Where it comes out in the run.
    fn made(cx: &mut GradCx<'g, '_>, params: &Dims<'g>, axis: Output<'g>, batch: i64) -> Self {
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

/// The gradient of a gather along an axis, as a tensor of its four axes.
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
        // Number i of batch b is number b * n + i of all.
        let starts = cx.op("Range").input(0).input(batches.scalar(cx)).input(1).output() * n.scalar(cx);
        let starts = cx.op("ExpandDims").input(as_index(cx, starts, cx.dtype(1))).input(1).output();
        indices = shaped(cx, indices, &[&batches, &taken]) + starts;
    }
    let indices = cx.op("Reshape").input(indices).input([-1]).output();
    let sums = cx.call("UnsortedSegmentSum", [values, indices, all]);
    let four = shaped(cx, sums, &[&batches, &n, &outer, &inner]);
    turned(cx, four)
}

cases! {
    rows: "Gather([[1 2] [3 4] [5 6]], [2 0]) = [[5 6] [1 2]]",
    one: "Gather([1 2 3], 1) = 2",
    one_row: "GatherV2([[1 2] [3 4]], 1, 0) = [3 4]",
    columns: "GatherV2([[1 2 3] [4 5 6]], i64 [2 0], i64 -1) = [[3 1] [6 4]]",
    middle_axis: "GatherV2([[[1 2] [3 4]] [[5 6] [7 8]]], [1], 1) = [[[3 4]] [[7 8]]]",
    indices_of_rank_2: "GatherV2([1 2 3], [[0 1] [2 2]], 0) = [[1 2] [3 3]]",
    batches: "GatherV2([[1 2 3] [4 5 6]], [[2 0] [1 1]], 1; batch_dims=1) = [[3 1] [5 5]]",
    batches_of_scalars: "GatherV2([[1 2 3] [4 5 6]], [2 0], 1; batch_dims=1) = [3 4]",
    negative_batch: "GatherV2([[1 2 3] [4 5 6]], [[2 0] [1 1]], 1; batch_dims=-1) = [[3 1] [5 5]]",
    strings: "Gather(['a' 'b'], [1 1]) = ['b' 'b']",
    nothing: "Gather([1 2], i32[0] []) = i32[0] []",
    infers: "GatherV2(f32[?,3,4], i32[5,?], 1) : f32[?,5,?,4]",
    infers_batches: "GatherV2(f32[?,3,4], i32[2,7], 2; batch_dims=1) : f32[2,3,7]",
    unknown_axis: "GatherV2(f32[2,3], i32[5], i32[]) : f32[?,?]",
    unknown_rank: "Gather(f32[..], i32[5]) : f32[..]",
    out_of_range: "Gather([1 2], [0 2]) ! `indices` 1 (counted flat) is 2, which is not in 0..2",
    negative: "Gather([1 2], [-1]) ! is -1, which is not in 0..2",
    of_a_scalar: "Gather(1, [0]) ! a scalar has no axes",
    batch_over_axis: "GatherV2([[1 2]], [[0]], 0; batch_dims=1) ! `batch_dims` is 1",
    batches_differ: "GatherV2([[1 2] [3 4]], [[0]], 1; batch_dims=1) ! the first 1 axes are shared",
}
