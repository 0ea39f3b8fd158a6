//! `SparseReshape`: a sparse tensor in another shape.

use super::entries::{Indices, sizes};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseReshape")
        .doc(
            "Returns the indices of a sparse tensor in the shape `new_shape`, and that shape. One size may \
             be -1: it is computed from the others.",
        )
        .input("input_indices", I64)
        .input("input_shape", I64)
        .input("new_shape", I64)
        .output("output_indices", I64)
        .output("output_shape", I64)
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let indices = cx.with_rank(0, 2)?;
    cx.vector(1)?;
    let rank = cx.vector(2)?;
    cx.set(0, [indices.dim(0), rank]);
    cx.set(1, [rank]);
    Ok(())
}

/// Returns the product of sizes, or an error if one is negative or the product does not fit in 63 bits.
fn count(what: &str, dims: &[i64]) -> Result<i64> {
    dims.iter().try_fold(1i64, |n, &d| match d {
        ..0 => Err(invalid!("`{what}` has {d}, which must not be negative")),
        // A size of 0 makes the product 0, however large the other sizes are.
        _ if dims.contains(&0) => Ok(0),
        d => n
            .checked_mul(d)
            .ok_or_else(|| invalid!("`{what}` {dims:?} has more elements than fit in 63 bits")),
    })
}

/// Returns `new` with a size of -1 computed.
fn complete(old: &[i64], new: &[i64]) -> Result<Vec<i64>> {
    let all = count("input_shape", old)?;
    let open: Vec<usize> = (0..new.len()).filter(|i| new[*i] == -1).collect();
    let mut shape = new.to_vec();
    match open[..] {
        [] => {}
        [i] => {
            shape[i] = 1;
            let rest = count("new_shape", &shape)?;
            ensure!(rest > 0, "the -1 in `new_shape` {new:?} could be anything, as the other sizes have a 0");
            ensure!(
                all % rest == 0,
                "`input_shape` {old:?} has {all} elements, which do not divide into `new_shape` {new:?}"
            );
            shape[i] = all / rest;
        }
        _ => return Err(invalid!("`new_shape` {new:?} has more than one -1")),
    }
    let n = count("new_shape", &shape)?;
    ensure!(n == all, "`input_shape` {old:?} has {all} elements but `new_shape` {new:?} has {n}");
    Ok(shape)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    for i in [1, 2] {
        ensure!(
            cx.input(i).rank() == 1,
            "`{}` must be a vector but has shape {}",
            cx.name_of(i),
            cx.input(i).shape()
        );
    }
    let (rows, old, new) = (Indices::of(cx, 0)?, cx.ints(1)?, cx.ints(2)?);
    ensure!(
        old.len() == rows.rank,
        "`input_shape` has {} sizes but `input_indices` has {} columns",
        old.len(),
        rows.rank
    );
    let shape = complete(&old, &new)?;
    let mut indices = Charged::with_room(rows.n.saturating_mul(shape.len()))?;
    let mut pace = Pace::new();
    for i in 0..rows.n {
        pace.spend(rows.rank + shape.len())?;
        let index = rows.row(i);
        let inside = index.iter().zip(&old).all(|(at, size)| (0..*size).contains(at));
        ensure!(inside, "row {i} of `input_indices` is {index:?}, which does not index into shape {old:?}");
        // The index is inside a shape that has elements, so nothing overflows.
        let mut place = index.iter().zip(&old).fold(0, |place, (at, size)| place * size + at);
        let start = indices.len();
        for &size in shape.iter().rev() {
            indices.push(place % size)?;
            place /= size;
        }
        indices[start..].reverse();
    }
    let (indices, shape) = (Tensor::from_slice([rows.n, shape.len()], &indices)?, sizes(&shape)?);
    cx.set(0, indices);
    cx.set(1, shape);
    Ok(())
}

cases! {
    works_out_a_size: "SparseReshape(i64 [[0 1] [2 0]], i64 [3 3], i64 [9 -1]) = i64 [[1 0] [6 0]], i64 [9 1]",
    more_axes: "SparseReshape(i64 [[5]], i64[1] [8], i64 [2 2 2]) = i64 [[1 0 1]], i64 [2 2 2]",
    nothing: "SparseReshape(i64[0,2] [], i64 [3 0], i64[1] [0]) = i64[0,1] [], i64[1] [0]",
    infers: "SparseReshape(i64[?,2], i64[2], i64[3]) : i64[?,3], i64[3]",
    counts_agree: "SparseReshape(i64 [[0]], i64[1] [4], i64 [3 2]) ! has 4 elements but `new_shape` [3, 2] has 6",
    divides: "SparseReshape(i64 [[0]], i64[1] [4], i64 [3 -1]) ! do not divide",
    one_unknown: "SparseReshape(i64 [[0]], i64[1] [4], i64 [-1 -1]) ! more than one -1",
    could_be_anything: "SparseReshape(i64[0,1] [], i64[1] [0], i64 [0 -1]) ! could be anything",
    too_large: "SparseReshape(i64[0,2] [], i64 [9223372036854775807 9], i64[1] [9]) ! more elements than fit in 63 bits",
    inside: "SparseReshape(i64 [[4]], i64[1] [4], i64 [2 2]) ! row 0 of `input_indices` is [4]",
}
