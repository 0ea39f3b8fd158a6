//! `TridiagonalSolve`: solutions of tridiagonal systems of linear equations.

use super::factor::Entry;
use super::matrices::{at_least, split};
use super::tridiagonal::{Diagonals, TYPES};
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Error, PartialShape, Result, Tensor, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("TridiagonalSolve")
        .doc(
            "Solves systems of linear equations with tridiagonal matrices, in time proportional to their rows. \
             `diagonals` has shape `[.., 3, M]`: the superdiagonal, the main diagonal and the subdiagonal, \
             where element `i` is that of row `i` of the matrix. The last element of the superdiagonal and the \
             first of the subdiagonal are ignored. If `partial_pivoting` is true, rows are exchanged so that the \
             elimination is stable.",
        )
        .input("diagonals", "T")
        .input("rhs", "T")
        .output("output", "T")
        .attr("partial_pivoting", Bool.or(true))
        .attr("T", OneOf(TYPES))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (diagonals, rhs) = (cx.input(0), cx.input(1));
    at_least("diagonals", diagonals, 2)?;
    at_least("rhs", rhs, 2)?;
    let mut shape = rhs.clone();
    if let Some([batch @ .., three, n]) = diagonals.dims() {
        if three.is_some_and(|three| three != 3) {
            return Err(not_three(diagonals));
        }
        let cols = rhs.dims().and_then(|d| d.last().copied()).flatten();
        let of_rhs = PartialShape::new(batch.iter().copied().chain([*n, cols]));
        shape = rhs.merge(&of_rhs).ok_or_else(|| no_fit(diagonals, rhs))?;
    }
    cx.set(0, shape);
    Ok(())
}

fn not_three(diagonals: &PartialShape) -> Error {
    let rows = diagonals.dims().and_then(|d| d[d.len() - 2]).unwrap_or(0);
    invalid!(
        "Expected diagonals to be provided as a matrix with 3 rows, got {rows} rows.";
        "`diagonals` has shape {diagonals}"
    )
}

fn no_fit(diagonals: &PartialShape, rhs: &PartialShape) -> Error {
    let side = |shape: &PartialShape, from_last: usize| {
        shape.dims().and_then(|d| d.len().checked_sub(from_last).and_then(|i| d[i])).unwrap_or(0)
    };
    invalid!(
        "Expected the same number of left-hand sides and right-hand sides, got {} and {}.",
        side(diagonals, 1), side(rhs, 2);
        "`diagonals` has shape {diagonals} but `rhs` {rhs}: batches and rows must be equal"
    )
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (diagonals, rhs, pivots) = (cx.input(0), cx.input(1), cx.attrs().bool("partial_pivoting")?);
    let (batch, three, n) = split("diagonals", diagonals.shape())?;
    let (outer, rows, m) = split("rhs", rhs.shape())?;
    if three != 3 {
        return Err(not_three(&diagonals.shape().into()));
    }
    if batch != outer || rows != n {
        return Err(no_fit(&diagonals.shape().into(), &rhs.shape().into()));
    }
    let mut out = Tensor::zeros(rhs.dtype(), rhs.shape().clone())?;
    with_element!(rhs.dtype(), T in wide_fields => {
        let (diagonals, rhs, cells) = (diagonals.as_slice::<T>()?, rhs.as_slice::<T>()?, fresh::<T>(&mut out)?);
        if n * m > 0 {
            let systems = diagonals.chunks_exact(3 * n).zip(rhs.chunks_exact(n * m));
            for ((diagonals, rhs), out) in systems.zip(cells.chunks_exact_mut(n * m)) {
                out.copy_from_slice(rhs);
                solve(diagonals, out, n, m, pivots)?;
            }
        }
        Ok(())
    }, else => Err(no_kernel("TridiagonalSolve", rhs.dtype())))?;
    cx.set(0, out);
    Ok(())
}

/// Eliminates the subdiagonal and substitutes back, in `x`. An exchange of two rows fills a second
/// superdiagonal.
fn solve<T: Entry>(diagonals: &[T], x: &mut [T], n: usize, m: usize, pivots: bool) -> Result<()> {
    let singular = || match (n, pivots) {
        (1, _) => invalid!("The matrix is not invertible: it is a scalar with value zero."),
        (_, true) => invalid!("The matrix is not invertible."; "a pivot is zero"),
        (_, false) => invalid!(
            "The matrix is either not invertible, or requires pivoting. Try setting partial_pivoting = True.";
            "a pivot is zero"
        ),
    };
    let (mut main, mut over) = (Charged::copy_of(&diagonals[n..2 * n])?, Charged::copy_of(&diagonals[..n])?);
    let mut second = Charged::copy_of(&over)?;
    second.fill(T::int(0));
    over[n - 1] = T::int(0);
    let under = &diagonals[2 * n..];
    let mut pace = Pace::new();
    for i in 0..n - 1 {
        pace.spend(2 * m)?;
        // The row below begins with its subdiagonal.
        let (upper, lower) = x[i * m..(i + 2) * m].split_at_mut(m);
        let mut next = [under[i + 1], main[i + 1], over[i + 1]];
        if pivots && next[0].far() > main[i].far() {
            (next, main[i], over[i], second[i]) = ([main[i], over[i], T::int(0)], next[0], next[1], next[2]);
            upper.swap_with_slice(lower);
        }
        if main[i].far() == 0.0 {
            return Err(singular());
        }
        let factor = next[0].div(main[i]);
        main[i + 1] = next[1].sub(factor.mul(over[i]));
        over[i + 1] = next[2].sub(factor.mul(second[i]));
        lower.iter_mut().zip(&*upper).for_each(|(y, x)| *y = y.sub(factor.mul(*x)));
    }
    if main[n - 1].far() == 0.0 {
        return Err(singular());
    }
    for i in (0..n).rev() {
        pace.spend(3 * m)?;
        for j in 0..m {
            let mut rest = x[i * m + j];
            if i + 1 < n {
                rest = rest.sub(over[i].mul(x[(i + 1) * m + j]));
            }
            if i + 2 < n {
                rest = rest.sub(second[i].mul(x[(i + 2) * m + j]));
            }
            x[i * m + j] = rest.div(main[i]);
        }
    }
    Ok(())
}

// A X = B: dB = A⁻ᴴ dX, and the diagonals have the gradients of those of a product with X whose gradient is
// -dB.
fn grad<'g>(cx: &mut GradCx<'g, '_>) -> Result<()> {
    let (dx, diagonals, x) = (cx.grad(0), cx.input(0), cx.output(0));
    let part = |i: i32| cx.op("GatherV2").input(diagonals).input(cx.ints(&[i])).input(-2).output();
    let matrix = Diagonals { over: part(0), main: part(1), under: part(2) };
    let joined =
        |of: Diagonals<'g>| cx.op("ConcatV2").inputs([of.over, of.main, of.under]).input(-2).output();
    let pivots = cx.attrs().bool("partial_pivoting")?;
    let adjoint = joined(matrix.adjoint(cx));
    let db = cx.op("TridiagonalSolve").input(adjoint).input(dx).attr("partial_pivoting", pivots).output();
    let grads = cx.wants(0).then(|| joined(matrix.grads(cx, -db, x)));
    if let Some(grads) = grads {
        cx.give(0, grads);
    }
    cx.give(1, db);
    Ok(())
}

cases! {
    solves: "TridiagonalSolve([[1.0 0.0] [2.0 2.0] [0.0 3.0]], [[12.0] [23.0]]) ~ [[1.0] [10.0]]",
    exchanges_rows: "TridiagonalSolve(f64 [[1.0 0.0 9.0] [0.0 0.0 6.0] [9.0 2.0 8.0]], f64 [[1.0] [3.0] [5.0]]) ~ f64 [[1.5] [1.0] [-0.5]]",
    three_rows: "TridiagonalSolve(f64 [[1.0 2.0 9.0] [4.0 5.0 6.0] [9.0 7.0 8.0]], f64 [[1.0 2.0] [3.0 4.0] [5.0 6.0]]; partial_pivoting=false) ~ f64 [[0.42857142857142855 1.1428571428571428] [-0.7142857142857143 -2.5714285714285716] [1.7857142857142858 4.428571428571429]]",
    of_one_row: "TridiagonalSolve([[9.0] [2.0] [9.0]], [[3.0]]) = [[1.5]]",
    nothing: "TridiagonalSolve(f32[3,0] [], f32[0,2] []) = f32[0,2] []",
    infers: "TridiagonalSolve(f32[?,3,7], f32[5,?,2]) : f32[5,7,2]",
    singular: "TridiagonalSolve([[1.0 1.0 0.0] [0.0 0.0 0.0] [0.0 1.0 1.0]], [[1.0] [2.0] [3.0]]) ! not invertible",
    needs_pivots: "TridiagonalSolve([[1.0 0.0] [0.0 1.0] [0.0 1.0]], [[1.0] [2.0]]; partial_pivoting=false) ! Try setting partial_pivoting",
    three_diagonals: "TridiagonalSolve([[1.0 1.0] [1.0 1.0]], [[1.0] [2.0]]) ! a matrix with 3 rows, got 2 rows",
    rows_agree: "TridiagonalSolve([[1.0 1.0] [1.0 1.0] [1.0 1.0]], [[1.0]]) ! batches and rows must be equal",
}
