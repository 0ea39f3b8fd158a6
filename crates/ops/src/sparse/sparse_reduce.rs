//! `SparseReduceSum`, `SparseReduceMax`, and both with the suffix `Sparse`: reductions of a sparse tensor
//! along axes, to a dense or a sparse tensor.

use super::entries::{Entries, gives, inferred, sizes};
use crate::number::{Lane, Num, Real};
use millstream_graph::Output;
use millstream_graph::op::spec::{self, Bool, Spec};
use millstream_graph::op::{GradCx, GradFn, Gradient, InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::DType::{I32, I64};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::sorting::sort;
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> [OpDef; 4] {
    let op = |name, doc, run: RunFn, grad: GradFn| {
        OpDef::new(name)
            .doc(doc)
            .input("input_indices", I64)
            .input("input_values", "T")
            .input("input_shape", I64)
            .input("reduction_axes", I32)
            .on_host()
            .attr("keep_dims", Bool.or(false))
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    };
    let dense = |def: OpDef| def.output("output", "T").infer(|cx| infer(cx, false));
    let sparse = |def: OpDef| {
        def.output("output_indices", I64)
            .output("output_values", "T")
            .output("output_shape", I64)
            .infer(|cx| infer(cx, true))
    };
    [
        dense(op(
            "SparseReduceSum",
            "Computes the sum of a sparse tensor along `reduction_axes`, as a dense tensor.",
            |cx| sum(cx, false),
            |cx| grad(cx, None, false),
        ))
        .attr("T", spec::Number),
        dense(op(
            "SparseReduceMax",
            "Computes the maximum of the entries of a sparse tensor along `reduction_axes`, as a dense \
             tensor, which is 0 where there are no entries.",
            |cx| max(cx, false),
            |cx| grad(cx, Some("SparseReduceSum"), false),
        ))
        .attr("T", spec::RealNumber),
        sparse(op(
            "SparseReduceSumSparse",
            "Computes the sum of a sparse tensor along `reduction_axes`, as a sparse tensor.",
            |cx| sum(cx, true),
            |cx| grad(cx, None, true),
        ))
        .attr("T", spec::Number),
        sparse(op(
            "SparseReduceMaxSparse",
            "Computes the maximum of the entries of a sparse tensor along `reduction_axes`, as a sparse \
             tensor.",
            |cx| max(cx, true),
            |cx| grad(cx, Some("SparseReduceSumSparse"), true),
        ))
        .attr("T", spec::RealNumber),
    ]
}

/// Returns, for each axis, whether it is reduced.
fn mask(axes: &[i64], rank: usize) -> Result<Vec<bool>> {
    let mut reduced = vec![false; rank];
    for &axis in axes {
        let from_front = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
        let place = usize::try_from(from_front).ok().and_then(|a| reduced.get_mut(a));
        *place
            .ok_or_else(|| invalid!("`reduction_axes` names axis {axis} but the input has rank {rank}"))? =
            true;
    }
    Ok(reduced)
}

fn infer(cx: &mut InferCx, is_sparse: bool) -> Result<()> {
    let (_, rank) = inferred(cx, 0)?;
    ensure!(
        cx.input(3).rank().is_none_or(|r| r <= 1),
        "`reduction_axes` must be a scalar or a vector but has shape {}",
        cx.input(3)
    );
    let keep = cx.attrs().bool("keep_dims")?;
    let reduced = match (cx.ints(3), rank) {
        (Some(axes), Some(rank)) => Some(mask(&axes, rank)?),
        _ => None,
    };
    let left = reduced.as_ref().map(|r| r.iter().filter(|r| keep || !**r).count());
    if is_sparse {
        gives(cx, 0, None, left);
        return Ok(());
    }
    let shape = cx.as_shape(2)?;
    if let (Some(dims), Some(reduced)) = (shape.dims(), reduced) {
        let dims = dims.iter().zip(&reduced).filter(|(_, r)| keep || !**r);
        cx.set(0, PartialShape::new(dims.map(|(d, r)| if *r { Some(1) } else { *d })));
    }
    Ok(())
}

fn sum(cx: &mut KernelCx, is_sparse: bool) -> Result<()> {
    with_element!(cx.input(1).dtype(), T in numbers => run::<T>(cx, |a, b| a.add(b), is_sparse), else => Err(crate::shared::elementwise::unsupported(cx)))
}

fn max(cx: &mut KernelCx, is_sparse: bool) -> Result<()> {
    with_element!(cx.input(1).dtype(), T in reals => run::<T>(cx, Real::max, is_sparse), else => Err(crate::shared::elementwise::unsupported(cx)))
}

fn run<T: Lane + Num>(cx: &mut KernelCx, join: fn(T, T) -> T, is_sparse: bool) -> Result<()> {
    let all = Entries::of(cx, 0)?;
    ensure!(
        cx.input(3).rank() <= 1,
        "`reduction_axes` must be a scalar or a vector but has shape {}",
        cx.input(3).shape()
    );
    let keep = cx.attrs().bool("keep_dims")?;
    let reduced = mask(&cx.ints(3)?, all.rank)?;
    let left = |full: &[i64], kept: i64| -> Vec<i64> {
        let axes = full.iter().zip(&reduced).filter(|(_, r)| keep || !**r);
        axes.map(|(v, r)| if *r { kept } else { *v }).collect()
    };
    // The entries by what is left of their indices: the first of each group, and the group's value.
    let group =
        |row: usize| all.index(row).iter().zip(&reduced).filter(|(_, reduced)| !**reduced).map(|(at, _)| *at);
    let mut order = Charged::of(0..all.n)?;
    sort(&mut order, |a, b| group(*a).cmp(group(*b)))?;
    let (mut firsts, mut values, mut pace) = (Charged::<usize>::new(), Charged::<T>::new(), Pace::new());
    let given = all.values.as_slice::<T>()?;
    for &row in order.iter() {
        pace.spend(4)?;
        match (firsts.last(), values.last_mut()) {
            (Some(first), Some(value)) if group(*first).eq(group(row)) => *value = join(*value, given[row]),
            _ => {
                firsts.push(row)?;
                values.push(given[row])?;
            }
        }
    }
    let shape = left(&all.shape, 1);
    let index = |row: &usize| {
        let axes = all.index(*row).iter().zip(&reduced).filter(move |(_, reduced)| keep || !**reduced);
        axes.map(|(at, reduced)| if *reduced { 0 } else { *at })
    };
    if is_sparse {
        let indices = Tensor::from_iter([firsts.len(), shape.len()], firsts.iter().flat_map(index))?;
        let values = Tensor::vector(&values)?;
        cx.set(0, indices);
        cx.set(1, values);
        cx.set(2, sizes(&shape)?);
        return Ok(());
    }
    let mut out = Tensor::zeros(T::DTYPE, Shape::from_signed(&shape)?)?;
    let strides = out.shape().strides();
    let cells = crate::shared::elementwise::fresh::<T>(&mut out)?;
    for (row, value) in firsts.iter().zip(values.iter()) {
        pace.spend(4)?;
        let at: usize = index(row).zip(&strides).map(|(i, s)| i as usize * s).sum();
        cells[at] = *value;
    }
    cx.set(0, out);
    Ok(())
}

// Each entry gets the gradient at its index without the reduced axes. Entries that equal a maximum share its
// gradient equally.
/// `count` is the sum that counts the entries which are the maximum; a sum has none.
fn grad<'g>(cx: &mut GradCx<'g, '_>, count: Option<&'static str>, is_sparse: bool) -> Result<()> {
    let keep = cx.attrs().bool("keep_dims")?;
    let (indices, shape, axes) = (cx.input(0), cx.input(2), cx.input(3));
    let rank = cx.call("Size", [shape]);
    let flat_axes = cx.op("Reshape").input((axes + rank) % rank).input([-1]).output();
    let all = cx.op("Range").input(0).input(rank).input(1).output();
    // The shape with ones at the reduced axes.
    let ones = cx.op("Fill").input(cx.call("Shape", [flat_axes])).input(1i64).output();
    let kept = cx.op("DynamicStitch").inputs([all, flat_axes, shape, ones]).attr("N", 2).output();
    let one = cx.graph().constant(1i64);
    let places =
        cx.call("FloorDiv", [indices, cx.call("FloorDiv", [cx.call("Maximum", [shape, one]), kept])]);
    let out = usize::from(is_sparse);
    let rows = is_sparse.then(|| row_of(cx, places, kept));
    let g = cx.graph();
    let at_entries = |reduced: Output<'g>| match rows {
        Some(rows) => g.op("GatherV2").inputs([reduced, rows, g.constant(0)]).output(),
        None => {
            g.op("GatherNd").input(g.op("Reshape").inputs([reduced, kept]).output()).input(places).output()
        }
    };
    let mut grad = at_entries(cx.grad(out));
    if let Some(count) = count {
        let (values, max) = (cx.input(1), at_entries(cx.output(out)));
        let is_max = cx.call("Equal", [values, max]);
        let is_max = cx.op("Cast").input(is_max).attr("DstT", cx.dtype(1)).output();
        let many = cx
            .op(count)
            .inputs([indices, is_max, shape, axes])
            .attr("keep_dims", keep)
            .finish()
            .output(out as u32);
        grad = grad * is_max / at_entries(many);
    }
    cx.give(1, grad);
    Ok(())
}

/// Returns the row of a sparse result, which is sorted, for each of the `places` in a tensor of shape `kept`.
fn row_of<'g>(cx: &mut GradCx<'g, '_>, places: Output<'g>, kept: Output<'g>) -> Output<'g> {
    let size = cx.op("Prod").input(kept).input([0]).attr("keep_dims", true).output();
    let row = cx.ints(&[1, -1]);
    let (rows, shape) = (cx.output(0), cx.output(2));
    let number = |indices, shape| cx.call("Reshape", [cx.call("SparseReshape", [indices, shape, size]), row]);
    let (of_entries, of_rows) = (number(places, kept), number(rows, shape));
    cx.op("Reshape").input(cx.call("LowerBound", [of_rows, of_entries])).input([-1]).output()
}

cases! {
    sums_columns: "SparseReduceSum(i64 [[0 1] [2 0] [2 1]], [5 6 7], i64 [3 3], [0]) = [6 12 0]",
    keeps_the_axis: "SparseReduceSum(i64 [[0 1] [2 0]], [5 6], i64 [3 3], -1; keep_dims=true) = [[5] [0] [6]]",
    sums_all: "SparseReduceSum(i64 [[0 1] [2 0]], [5.0 6.0], i64 [3 3], [0 1]) = 11.0",
    along_no_axes: "SparseReduceSum(i64 [[0 1]], [5], i64 [2 2], i32[0] []) = [[0 5] [0 0]]",
    greatest: "SparseReduceMax(i64 [[0 1] [2 0] [2 1]], [-5 6 7], i64 [3 3], [1]) = [-5 0 7]",
    as_sparse: "SparseReduceSumSparse(i64 [[0 1] [2 0] [2 1]], [5 6 7], i64 [3 3], [1]) = i64 [[0] [2]], [5 13], i64[1] [3]",
    greatest_as_sparse: "SparseReduceMaxSparse(i64 [[0 1] [2 0]], [5.0 6.0], i64 [3 3], [0 1]) = i64[1,0] [], [6.0], i64[0] []",
    greatest_along_the_first: "SparseReduceMax(i64 [[0 1] [2 0] [2 1]], [5.0 6.0 7.0], i64 [3 3], [-2]; keep_dims=true) ~ [[6.0 7.0 0.0]]",
    sums_as_sparse: "SparseReduceSumSparse(i64 [[0 1] [2 0] [2 1]], [5.0 6.0 7.0], i64 [3 3], [0]; keep_dims=true) ~ i64 [[0 0] [0 1]], [6.0 12.0], i64 [1 3]",
    infers: "SparseReduceSum(i64[?,2], f32[?], i64 [3 4], [0]) : f32[4]",
    infers_sparse: "SparseReduceSumSparse(i64[?,3], f32[?], i64[?], [0 1]) : i64[?,1], f32[?], i64[1]",
    axes_exist: "SparseReduceSum(i64 [[0 1]], [5], i64 [3 3], [2]) ! names axis 2 but the input has rank 2",
}
