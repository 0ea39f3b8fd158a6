//! `Gather` and `GatherV2`: slices of a tensor selected by index along an axis.

use crate::shared::axes::{axis, element, entry, joined, product, replaced, scalar};
use crate::shared::dims::Dims;
use crate::shared::gather_gradient::{Sizes, along};
use crate::shared::gradient::as_i32;
use millstream_graph::IndexedSlices;
use millstream_graph::op::spec::{AnyType, Bool, IndexType, Int, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, Known, NodeInfo, OpDef};
use millstream_tensor::budget::Charged;
use millstream_tensor::{Assembler, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    let of = |name| OpDef::new(name).input("params", "Tparams").input("indices", "Tindices");
    [
        of("Gather")
            .doc(
                "Gathers rows of `params` by index. The output's shape is that of `indices` followed by the \
                 shape of a row.",
            )
            .attr("validate_indices", Bool.or(true)),
        of("GatherV2")
            .input("axis", "Taxis")
            .on_host()
            .doc(
                "Gathers slices of `params` along `axis` by index. In the output's shape, the shape of \
                 `indices` replaces axis `axis`. The first `batch_dims` axes are shared by `params` and \
                 `indices`.",
            )
            .attr("Taxis", IndexType)
            .attr("batch_dims", Int.or(0i64)),
    ]
    .map(|def| {
        def.output("output", "Tparams")
            .attr("Tparams", AnyType)
            .attr("Tindices", IndexType)
            .infer(infer)
            .kernel(Kernel::pure(run).cost(Cost::Estimate(cost)))
            .gradient(Gradient::of(grad))
    })
}

// The cost counts the gathered elements and not `params`: one row of a large table is not worth another
// thread.
fn cost(_: &NodeInfo, inputs: &[Tensor]) -> f64 {
    let (Some(params), Some(indices)) = (inputs.first(), inputs.get(1)) else { return 0.0 };
    if params.rank() == 1 {
        return indices.elements() as f64;
    }
    let axis = inputs.get(2).and_then(|axis| axis.to_scalar::<i32>().ok()).unwrap_or(0);
    let axis = if axis < 0 { axis + params.rank() as i32 } else { axis };
    let along = usize::try_from(axis).ok().and_then(|axis| params.shape().dims().get(axis).copied());
    params.elements() as f64 / along.unwrap_or(1).max(1) as f64 * indices.elements() as f64
}

/// Returns the number of batch axes. A negative number counts from the back of `indices`.
fn batch_dims(batch: i64, axis: usize, indices_rank: usize) -> Result<usize> {
    let from_front = if batch < 0 { batch + indices_rank as i64 } else { batch };
    match usize::try_from(from_front) {
        Ok(b) if b <= axis && b <= indices_rank => Ok(b),
        _ => Err(invalid!(
            "Expected batch_dims in the range [{}, {indices_rank}), but got {batch}", -(indices_rank as i64);
            "`batch_dims` is {batch}, but must be at most `axis` ({axis}) and the rank of `indices` ({indices_rank})"
        )),
    }
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (mut at, mut batch) = (Some(0), 0);
    if cx.n_inputs() == 3 {
        cx.scalar(2)?;
        (at, batch) = (cx.int(2), cx.attrs().int("batch_dims")?);
    }
    cx.at_least_rank(0, 1)?;
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
            "the first {batch} axes must be equal, but `params` has {of_params} and `indices` has {of_indices}"
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
        scalar("axis", cx.input(2)).map_err(|e| e.led_by("axis must be scalar"))?;
        (at, batch) = (cx.int(2)?, cx.attrs().int("batch_dims")?);
    }
    let (params, indices) = (cx.input(0), cx.input(1));
    // One element of a vector: the most frequent, and the shortest.
    if let ([len], [], 0 | -1, 0) = (params.shape().dims(), indices.shape().dims(), at, batch) {
        let out = element(params, place(0, cx.int(1)?, &[], *len)?)?;
        cx.set(0, out);
        return Ok(());
    }
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

/// Returns the indices as positions, each checked to be below `len`.
fn places(indices: &[i64], dims: &[usize], len: usize) -> Result<Vec<usize>> {
    indices.iter().enumerate().map(|(i, &v)| place(i, v, dims, len)).collect()
}

/// Returns index `i`, whose value is `v`, as a position.
fn place(i: usize, v: i64, dims: &[usize], len: usize) -> Result<usize> {
    let place = usize::try_from(v).ok().filter(|&p| p < len);
    place.ok_or_else(|| invalid!("{} = {v} is not in [0, {len})", entry("indices", dims, i); "`indices` {i} (counted flat) is {v}, which is not in 0..{len}"))
}

/// Returns the slices at these positions along an axis, in this order.
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

/// A tensor viewed as `[blocks, outer, len, run]`, from which runs are picked along the third axis.
struct Pick {
    blocks: usize,
    outer: usize,
    len: usize,
    run: usize,
}

impl Pick {
    /// Picks runs. Block `b` uses the `b`-th equal share of `places`, which are all below `len`.
    fn pick(&self, t: &Tensor, places: &[usize], shape: Shape) -> Result<Tensor> {
        let &Pick { blocks, outer, len, run } = self;
        if shape.checked_elements()? == 0 {
            return Assembler::new(t.dtype(), shape)?.finish();
        }
        if blocks == 1 && outer == 1 {
            if run == 1 {
                return t.take_runs(shape, run, places);
            }
            let starts = Charged::of(places.iter().map(|p| p * run))?;
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

// Each gathered slice adds its gradient at its index: as IndexedSlices along axis 0, as a dense segment sum
// along inner axes.
fn grad(cx: &mut GradCx) -> Result<()> {
    let batch = cx.attrs().int("batch_dims").unwrap_or(0);
    let axis =
        if cx.n_inputs() == 3 { cx.known_ints(2).and_then(|axis| axis.first().copied()) } else { Some(0) };
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

/// Returns the gradient of a gather of whole rows.
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
    of_a_scalar: "Gather(1, [0]) ! must have rank 1 or more",
    batch_over_axis: "GatherV2([[1 2]], [[0]], 0; batch_dims=1) ! `batch_dims` is 1",
    batches_differ: "GatherV2([[1 2] [3 4]], [[0]], 1; batch_dims=1) ! the first 1 axes must be equal",
}
