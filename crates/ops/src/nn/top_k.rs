//! `TopK`, `TopKV2`: the greatest entries of each row and their indices.

use crate::number::{RealElement, no_kernel};
use crate::shared::casting::cast;
use crate::shared::dims::Dims;
use millstream_graph::op::spec::{AtLeast, Bool, OneOf, RealNumber, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::*;
use millstream_tensor::budget::Room;
use millstream_tensor::pace::{Pace, paced};
use millstream_tensor::sorting::{partition_at, sort};
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure, invalid, with_element};
use std::cmp::Ordering;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Returns the `k` greatest entries along the last axis in descending order, and their indices. \
               Equal entries are in order of index; NaN is last.";
    let def = |name| OpDef::new(name).doc(doc).input("input", "T").gradient(Gradient::of(grad));
    [
        def("TopK")
            .output("values", "T")
            .output("indices", I32)
            .attr("k", AtLeast(0))
            .attr("sorted", Bool.or(true))
            .attr("T", RealNumber)
            .infer(infer)
            .kernel(Kernel::pure(run)),
        def("TopKV2")
            .input("k", "Tk")
            .on_host()
            .output("values", "T")
            .output("indices", "index_type")
            .attr("sorted", Bool.or(true))
            .attr("T", RealNumber)
            .attr("Tk", OneOf(&[I16, I32, I64]).or(I32))
            .attr("index_type", OneOf(&[I16, I32, I64]).or(I32))
            .infer(infer)
            .kernel(Kernel::pure(run)),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let k = match cx.n_inputs() {
        1 => Some(cx.attrs().int("k")?),
        _ => {
            cx.scalar(1)?;
            cx.int(1)
        }
    };
    let k = match k {
        Some(k) => Some(usize::try_from(k).map_err(|_| negative(k))?),
        None => None,
    };
    let input = cx.input(0);
    cx.at_least_rank(0, 1)?;
    if let Some([batch @ .., n]) = input.dims() {
        if let (Some(n), Some(k)) = (n, k) {
            ensure!(
                k <= *n,
                "input must have last dimension >= k = {k} but is {n}";
                "{}", too_many(k, *n)
            );
        }
        let shape = PartialShape::new(batch.iter().copied().chain([k]));
        cx.set(0, shape.clone());
        cx.set(1, shape);
    }
    Ok(())
}

fn negative(k: i64) -> millstream_tensor::Error {
    invalid!("`k` is {k} but must not be negative")
}

fn too_many(k: usize, n: usize) -> String {
    format!("`k` is {k} but the rows of `input` have only {n} entries")
}

fn run(cx: &mut KernelCx) -> Result<()> {
    ensure!(
        cx.n_inputs() == 1 || cx.input(1).rank() == 0,
        "k must be scalar, got shape {}",
        cx.input(1).shape();
        "`k` must be a scalar"
    );
    let k = if cx.n_inputs() == 1 { cx.attrs().int("k")? } else { cx.int(1)? };
    let k = usize::try_from(k).map_err(|_| negative(k))?;
    let input = cx.input(0);
    let [batch @ .., n] = input.shape().dims() else {
        return Err(invalid!("`input` must have rank 1 or more but is a scalar"));
    };
    ensure!(
        k <= *n,
        "input must have at least k columns. Had {n}, needed {k}";
        "{}", too_many(k, *n)
    );
    let shape = Shape::new(batch.iter().copied().chain([k]));
    let index = cx.node.output_types.get(1).map_or(I32, |t| t.dtype);
    let (values, indices) = with_element!(input.dtype(), T in reals => top::<T>(input, *n, k, shape),
        else => Err(no_kernel(cx.node.op.name, input.dtype())))?;
    cx.set(0, values);
    cx.set(1, cast(&indices, index)?);
    Ok(())
}

/// Orders greater entries first and NaN last.
fn rank<T: RealElement>(a: T, b: T) -> Ordering {
    b.partial_cmp(&a).unwrap_or_else(|| {
        let nan = |v: T| v.partial_cmp(&v).is_none();
        nan(a).cmp(&nan(b))
    })
}

/// Returns the `k` greatest of each row of `n`, and their indices as I64.
fn top<T: RealElement>(input: &Tensor, n: usize, k: usize, shape: Shape) -> Result<(Tensor, Tensor)> {
    let mut values = Tensor::zeros(T::DTYPE, shape.clone())?;
    let mut indices = Tensor::zeros(I64, shape)?;
    if values.elements() == 0 {
        return Ok((values, indices));
    }
    let rows = values.make_mut_or_copy::<T>()?.chunks_exact_mut(k);
    let rows = rows.zip(indices.make_mut_or_copy::<i64>()?.chunks_exact_mut(k));
    let mut pace = Pace::new();
    let _room = Room::of(if k == 1 { 0 } else { n * size_of::<usize>() })?;
    let mut order: Vec<usize> = Vec::new();
    for ((values, indices), xs) in rows.zip(input.as_slice::<T>()?.chunks_exact(n)) {
        let before = |a: &usize, b: &usize| rank(xs[*a], xs[*b]).then(a.cmp(b));
        order.clear();
        match k {
            1 => {
                let mut best = 0;
                for i in 1..n {
                    pace.spend(1)?;
                    if before(&i, &best).is_lt() {
                        best = i;
                    }
                }
                order.push(best);
            }
            _ => {
                pace.spend(n)?;
                paced(n, |range| order.extend(range))?;
                if k < n {
                    partition_at(&mut order, k, before)?;
                    order.truncate(k);
                }
                sort(&mut order, before)?;
            }
        }
        paced(order.len(), |range| {
            let to = values[range.clone()].iter_mut().zip(&mut indices[range.clone()]);
            for ((value, at), &i) in to.zip(&order[range]) {
                (*value, *at) = (xs[i], i as i64);
            }
        })?;
    }
    Ok((values, indices))
}

// The entries that were chosen get the gradient.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, places) = (cx.grad(0), cx.output(1));
    let shape = Dims::of_input(cx, 0);
    let places = cx.op("Cast").input(places).attr("DstT", I32).output();
    // With the rows concatenated, the entry at position p of row r has index r * n + p.
    let k = Dims::of(cx, dy).part(cx, -1, None);
    let rows = Dims::joined(cx, &[Dims::Known(vec![-1]), k]).output(cx);
    let (places, n) = (cx.call("Reshape", [places, rows]), shape.part(cx, -1, None).scalar(cx));
    let row =
        cx.op("Range").input(0).input(shape.part(cx, 0, Some(-1)).product(cx).scalar(cx)).input(1).output();
    let starts = cx.op("ExpandDims").input(row * n).input(1).output();
    let (places, flat) = (cx.op("Reshape").input(places + starts).input([-1]).output(), cx.ints(&[-1]));
    let size = shape.product(cx).scalar(cx);
    let dx = cx.call("UnsortedSegmentSum", [cx.call("Reshape", [dy, flat]), places, size]);
    let dx = cx.reshaped_to_input(0, dx);
    cx.give(0, dx);
    Ok(())
}

cases! {
    of_each_row: "TopKV2([[1 5 5 2] [9 8 7 6]], 3) = [[5 5 2] [9 8 7]], [[1 2 3] [0 1 2]]",
    first_version: "TopK([1.0 3.0 2.0]; k=2) = [3.0 2.0], [1 2]",
    the_greatest: "TopKV2([[1 5 5 2]], 1) = [[5]], [[1]]",
    none: "TopKV2([1 2], 0) = i32[0] [], i32[0] []",
    nan_comes_last: "TopKV2([nan 1.0 2.0], 3) = [2.0 1.0 nan], [2 1 0]",
    wide_indices: "TopKV2([1 2], 1; index_type=i64) = [2], i64[1] [1]",
    shape: "TopKV2(f32[?,9], 3) : f32[?,3], i32[?,3]",
    unknown_k: "TopKV2(f32[?,9], i32[]) : f32[?,?], i32[?,?]",
    not_that_many: "TopKV2([1 2], 3) ! `k` is 3 but the rows of `input` have only 2 entries",
    not_negative: "TopKV2([1 2], -1) ! `k` is -1",
    needs_an_axis: "TopKV2(1, 1) ! `input` must have rank 1 or more",
}
