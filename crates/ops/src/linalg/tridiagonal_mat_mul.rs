//! `TridiagonalMatMul`: products of tridiagonal matrices and other matrices.

use super::factor::Entry;
use super::matrices::{at_least, split};
use super::tridiagonal::{Diagonals, TYPES};
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Error, PartialShape, Result, Shape, Tensor, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("TridiagonalMatMul")
        .doc(
            "Multiplies tridiagonal matrices with the innermost matrices of `rhs`. Each diagonal has shape \
             `[.., 1, M]`, for a `rhs` of shape `[.., M, K]`: element `i` is that of row `i` of the tridiagonal \
             matrix. The last element of `superdiag` and the first of `subdiag` are ignored.",
        )
        .input("superdiag", "T")
        .input("maindiag", "T")
        .input("subdiag", "T")
        .input("rhs", "T")
        .output("output", "T")
        .attr("T", OneOf(TYPES))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(4.0)))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    for i in 0..4 {
        at_least(cx.name_of(i), cx.input(i), 2)?;
    }
    let mut shape = cx.input(3).clone();
    for i in 0..3 {
        let Some([batch @ .., one, n]) = cx.input(i).dims() else { continue };
        let cols = shape.dims().and_then(|d| d.last().copied()).flatten();
        let of_rhs = PartialShape::new(batch.iter().copied().chain([*n, cols]));
        let fits = one.is_none_or(|one| one == 1);
        shape = shape
            .merge(&of_rhs)
            .filter(|_| fits)
            .ok_or_else(|| no_fit(cx.name_of(i), cx.input(i), cx.input(3)))?;
    }
    cx.set(0, shape);
    Ok(())
}

fn no_fit(name: &str, diagonal: &PartialShape, rhs: &PartialShape) -> Error {
    let which = match name {
        "superdiag" => "superdiagonal",
        "maindiag" => "main diagonal",
        _ => "subdiagonal",
    };
    invalid!(
        "Invalid {which} shape.";
        "`{name}` has shape {diagonal}, but a diagonal for `rhs` of shape {rhs} has shape `[.., 1, M]`, where M is the number of rows of `rhs`"
    )
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let rhs = cx.input(3);
    let (batch, n, m) = split("rhs", rhs.shape())?;
    let wanted = Shape::new(batch.iter().copied().chain([1, n]));
    for i in 0..3 {
        let shape = cx.input(i).shape();
        if *shape != wanted {
            return Err(no_fit(cx.name_of(i), &shape.into(), &rhs.shape().into()));
        }
    }
    let mut out = Tensor::zeros(rhs.dtype(), rhs.shape().clone())?;
    with_element!(rhs.dtype(), T in wide_fields => {
        let diagonals = [0, 1, 2].map(|i| cx.input(i).as_slice::<T>());
        let [over, main, under] = diagonals;
        multiply([over?, main?, under?], rhs.as_slice::<T>()?, fresh::<T>(&mut out)?, n, m)
    }, else => Err(no_kernel("TridiagonalMatMul", rhs.dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn multiply<T: Entry>(
    [over, main, under]: [&[T]; 3],
    x: &[T],
    out: &mut [T],
    n: usize,
    m: usize,
) -> Result<()> {
    let mut pace = Pace::new();
    if m == 0 {
        return Ok(());
    }
    for (at, row) in out.chunks_exact_mut(m).enumerate() {
        pace.spend(3 * m)?;
        let i = at % n;
        let of = |at: usize| &x[at * m..(at + 1) * m];
        for (j, out) in row.iter_mut().enumerate() {
            let left = if i > 0 { under[at].mul(of(at - 1)[j]) } else { T::int(0) };
            let right = if i + 1 < n { over[at].mul(of(at + 1)[j]) } else { T::int(0) };
            *out = left.add(main[at].mul(of(at)[j])).add(right);
        }
    }
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let (over, main, under, x) = (cx.input(0), cx.input(1), cx.input(2), cx.input(3));
    let matrix = Diagonals { over, main, under };
    if (0..3).any(|i| cx.wants(i)) {
        let grads = matrix.grads(cx, dy, x);
        cx.give(0, grads.over);
        cx.give(1, grads.main);
        cx.give(2, grads.under);
    }
    if cx.wants(3) {
        cx.give(3, matrix.adjoint(cx).product(cx, dy));
    }
    Ok(())
}

cases! {
    multiplies: "TridiagonalMatMul([[1.0 2.0 9.0]], [[4.0 5.0 6.0]], [[9.0 7.0 8.0]], [[1.0 2.0] [3.0 4.0] [5.0 6.0]]) = [[7.0 12.0] [32.0 46.0] [54.0 68.0]]",
    of_one_row: "TridiagonalMatMul([[9.0]], [[2.0]], [[9.0]], [[3.0]]) = [[6.0]]",
    each: "TridiagonalMatMul(f64 [[[1.0 0.0]] [[0.0 0.0]]], f64 [[[1.0 1.0]] [[2.0 2.0]]], f64 [[[0.0 0.0]] [[0.0 1.0]]], f64 [[[1.0] [2.0]] [[3.0] [4.0]]]) = f64 [[[3.0] [2.0]] [[6.0] [11.0]]]",
    complex_ones: "TridiagonalMatMul(c64 [[0+1i 0+0i]], c64 [[1+0i 1+0i]], c64 [[0+0i 2+0i]], c64 [[1+0i] [0+1i]]) = c64 [[0+0i] [2+1i]]",
    nothing: "TridiagonalMatMul(f32[1,0] [], f32[1,0] [], f32[1,0] [], f32[0,2] []) = f32[0,2] []",
    infers: "TridiagonalMatMul(f32[?,1,3], f32[5,1,?], f32[..], f32[?,?,2]) : f32[5,3,2]",
    lengths: "TridiagonalMatMul([[1.0 2.0]], [[4.0 5.0 6.0]], [[9.0 7.0 8.0]], [[1.0] [3.0] [5.0]]) ! `superdiag` has shape [1,2]",
    one_row: "TridiagonalMatMul([[1.0]], [[1.0] [1.0]], [[1.0]], [[1.0]]) ! `maindiag` has shape [2,1]",
}
