//! `SparseSoftmax`: the softmax over the entries of each row.

use super::entries::{Entries, inferred};
use crate::number::{Field, Lane, Real};
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F16, F32, F64, I64};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor, ensure, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseSoftmax")
        .doc(
            "Computes the softmax along the last axis of a sparse tensor of rank 2 or more, whose entries \
             are in row-major order. Positions without an entry count as negative infinity.",
        )
        .input("sp_indices", I64)
        .input("sp_values", "T")
        .input("sp_shape", I64)
        .output("output", "T")
        .attr("T", OneOf(&[F16, F32, F64]))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (n, rank) = inferred(cx, 0)?;
    ensure!(
        rank.is_none_or(|r| r >= 2),
        "the sparse tensor must have two axes or more, but has {}",
        rank.unwrap_or_default()
    );
    cx.set(0, [n]);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let all = Entries::of(cx, 0)?;
    ensure!(all.rank >= 2, "the sparse tensor must have two axes or more, but has {}", all.rank);
    all.check_order()?;
    let out = with_element!(all.values.dtype(), T in floats => softmax::<T>(&all), else => Err(crate::shared::elementwise::unsupported(cx)))?;
    cx.set(0, out);
    Ok(())
}

fn softmax<T: Lane + Field + Real>(all: &Entries) -> Result<Tensor> {
    let values = all.values.as_slice::<T>()?;
    let (mut out, mut pace) = (Charged::with_room(all.n)?, Pace::new());
    let outer = |row: usize| &all.index(row)[..all.rank - 1];
    while out.len() < all.n {
        let start = out.len();
        let end = (start + 1..all.n).find(|row| outer(*row) != outer(start)).unwrap_or(all.n);
        let row = &values[start..end];
        let most = row.iter().skip(1).fold(row[0], |m, v| Real::max(m, *v));
        pace.spend(row.len())?;
        let exps = Charged::of(row.iter().map(|v| v.sub(most).exp()))?;
        let sum = exps.iter().fold(T::int(0), |sum, v| sum.add(*v));
        for v in &*exps {
            out.push(v.div(sum))?;
        }
    }
    Tensor::vector(&out)
}

// dsᵢ = sᵢ (dxᵢ - Σ sⱼ dxⱼ) along each row, over the existing entries.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y, indices, shape) = (cx.grad(0), cx.output(0), cx.input(0), cx.input(2));
    let sums = cx
        .op("SparseReduceSum")
        .inputs([indices, dy * y, shape])
        .input([-1])
        .attr("keep_dims", true)
        .output();
    cx.give(1, cx.call("SparseDenseCwiseAdd", [indices, dy, shape, -sums]) * y);
    Ok(())
}

cases! {
    of_each_row: "SparseSoftmax(i64 [[0 0] [0 2] [1 1]], [1.0 1.0 5.0], i64 [2 3]) ~ [0.5 0.5 1.0]",
    infers: "SparseSoftmax(i64[4,2], f32[?], i64[?]) : f32[4]",
    needs_rows: "SparseSoftmax(i64 [[0]], [1.0], i64[1] [3]) ! two axes or more",
    in_order: "SparseSoftmax(i64 [[1 0] [0 2]], [1.0 1.0], i64 [2 3]) ! comes before the row above it",
}
