//! `MatrixSolveLs`: solutions of linear least-squares problems.

use super::cholesky::root;
use super::factor::{Entry, TYPES, substitute};
use super::matrices::{adjoint, at_least, product_of, solved, split};
use super::spectra::{SPECTRAL_COST, Spectral, all_finite, fill_apart, is_long};
use crate::number::{Num, no_kernel};
use crate::shared::elementwise::fresh;
use faer::MatRef;
use faer::linalg::solvers::Svd;
use millstream_graph::Output;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{C64, C128, F32, F64};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::{Pace, look};
use millstream_tensor::{Error, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("MatrixSolveLs")
        .doc(
            "Solves linear least-squares problems: for each innermost matrix A of `matrix` and B of `rhs`, the X \
             that minimizes `|A X - B|² + l2_regularizer |X|²`, or, if A has fewer rows than columns, the \
             smallest X with `A X = B`. If `fast` is true, the normal equations are solved, which needs a matrix \
             of full rank or a positive `l2_regularizer`. Otherwise the solution is the smallest one, for a \
             matrix of any rank, and `l2_regularizer` is ignored.",
        )
        .input("matrix", "T")
        .input("rhs", "T")
        .input("l2_regularizer", F64)
        .on_host()
        .output("output", "T")
        .attr("T", OneOf(TYPES))
        .attr("fast", Bool.or(true))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(SPECTRAL_COST))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(2)?;
    let (matrix, rhs) = (cx.input(0), cx.input(1));
    at_least("matrix", matrix, 2)?;
    at_least("rhs", rhs, 2)?;
    let (batch, _) = solved(matrix, rhs).map_err(|words| no_fit(matrix, rhs).led_by(words))?;
    if let Some(batch) = batch.dims() {
        let last = |shape: &PartialShape| shape.dims().and_then(|d| *d.last()?);
        cx.set(0, PartialShape::new(batch.iter().copied().chain([last(matrix), last(rhs)])));
    }
    Ok(())
}

fn no_fit(matrix: &PartialShape, rhs: &PartialShape) -> Error {
    invalid!(
        "Input matrix and rhs are incompatible.";
        "`matrix` has shape {matrix} but `rhs` {rhs}: batches and rows must be equal"
    )
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (matrix, rhs, fast) = (cx.input(0), cx.input(1), cx.attrs().bool("fast")?);
    let (batch, m, n) = split("matrix", matrix.shape())?;
    let (outer, rows, k) = split("rhs", rhs.shape())?;
    if batch != outer || rows != m {
        return Err(no_fit(&matrix.shape().into(), &rhs.shape().into()));
    }
    ensure!(
        cx.input(2).rank() == 0,
        "l2_regularizer must be scalar, got shape {}", cx.input(2).shape();
        "`l2_regularizer` has shape {}", cx.input(2).shape()
    );
    let penalty: f64 = cx.input(2).to_scalar()?;
    ensure!(0.0 <= penalty, "l2_regularizer must be >= 0."; "`l2_regularizer` is {penalty}");
    let mut out = Tensor::zeros(matrix.dtype(), Shape::new(batch.iter().copied().chain([n, k])))?;
    with_element!(matrix.dtype(), T in wide_fields => {
        // The adjoint, a square matrix and its factor, the solution; or the factors of a decomposition.
        let side = m.max(n);
        let cells = side.saturating_mul(side).saturating_mul(4).saturating_add(side.saturating_mul(k));
        let scratch = cells.saturating_mul(size_of::<T>());
        let goes_apart = !fast && is_long(m, n);
        let _room = (!goes_apart).then(|| Room::of(scratch)).transpose()?;
        let sizes = [m, n, k];
        if sizes.iter().all(|d| *d > 0) {
            for (i, out) in fresh::<T>(&mut out)?.chunks_exact_mut(n * k).enumerate() {
                look()?;
                let (matrix, rhs) = (matrix.clone(), rhs.clone());
                let solve = move |x: &mut [T]| -> Result<()> {
                    let (a, b) = (matrix.as_slice::<T>()?, rhs.as_slice::<T>()?);
                    let (a, b) = (&a[i * m * n..][..m * n], &b[i * m * k..][..m * k]);
                    x.copy_from_slice(&if fast { normal(a, b, sizes, penalty)? } else { smallest(a, b, sizes)? });
                    Ok(())
                };
                match goes_apart {
                    false => solve(out)?,
                    true => fill_apart(scratch, &mut [out], move |to| match to {
                        [x] => solve(x),
                        _ => Err(Error::internal("a solution has one part")),
                    })?,
                }
            }
        }
        Ok(())
    }, else => Err(no_kernel("MatrixSolveLs", matrix.dtype())))?;
    cx.set(0, out);
    Ok(())
}

/// Returns the product of an `m` by `n` matrix's adjoint (or of the matrix itself, which is then `n` by `m`)
/// and an `m` by `k` matrix.
fn multiply<T: Entry>(a: impl Fn(usize, usize) -> T, b: &[T], [n, m, k]: [usize; 3]) -> Result<Vec<T>> {
    let mut pace = Pace::new();
    let mut out = vec![T::int(0); n * k];
    for i in 0..n {
        for j in 0..m {
            pace.spend(k)?;
            let factor = a(i, j);
            let row = &b[j * k..(j + 1) * k];
            out[i * k..(i + 1) * k].iter_mut().zip(row).for_each(|(out, b)| *out = out.add(factor.mul(*b)));
        }
    }
    Ok(out)
}

/// Solves the normal equations: `(AᴴA + p) X = AᴴB`, or `X = Aᴴ (AAᴴ + p)⁻¹ B` if A has fewer rows than
/// columns.
fn normal<T: Entry>(a: &[T], b: &[T], [m, n, k]: [usize; 3], penalty: f64) -> Result<Vec<T>> {
    let turned: Vec<T> = (0..n * m).map(|at| a[(at % m) * n + at / m].conj()).collect();
    let tall = n <= m;
    let side = m.min(n);
    let mut gram = match tall {
        true => multiply(|i, j| turned[i * m + j], a, [n, m, n])?,
        false => multiply(|i, j| a[i * n + j], &turned, [m, n, m])?,
    };
    (0..side).for_each(|i| gram[i * (side + 1)] = gram[i * (side + 1)].add(T::real(penalty)));
    // As in TensorFlow, the solution is NaN then, and not an error.
    let factor = match gram.iter().all(|x| x.far().is_finite()) {
        true => root(&gram, side)?.ok_or_else(|| {
            let larger = if tall { "a larger" } else { "an" };
            invalid!(
                "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide {larger} l2_regularizer > 0.";
                "the product of `matrix` and its adjoint has no Cholesky factor"
            )
        })?,
        false => gram,
    };
    let mut x = if tall { multiply(|i, j| turned[i * m + j], b, [n, m, k])? } else { b.to_vec() };
    substitute(side, k, true, |i, j| factor[i * side + j], &mut x)?;
    substitute(side, k, false, |i, j| factor[j * side + i].conj(), &mut x)?;
    if tall { Ok(x) } else { multiply(|i, j| turned[i * m + j], &x, [n, m, k]) }
}

/// Returns the smallest solution, by the singular values that are no rounding errors.
fn smallest<T: Spectral>(a: &[T], b: &[T], [m, n, k]: [usize; 3]) -> Result<Vec<T>> {
    if !all_finite(a) {
        return Ok(vec![T::real(f64::NAN); n * k]);
    }
    let svd = Svd::new_thin(MatRef::from_row_major_slice(a, m, n))
        .map_err(|_| Error::internal("the singular value decomposition did not converge"))?;
    let (s, u, v) = (svd.S().column_vector(), svd.U(), svd.V());
    let side = m.min(n);
    let rounding = match T::DTYPE {
        F64 | C128 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    };
    let least = s[0].part() * rounding * m.max(n) as f64;
    let mut inner = multiply(|i, j| u[(j, i)].conj(), b, [side, m, k])?;
    for (i, row) in inner.chunks_exact_mut(k).enumerate() {
        let kept = s[i].part() > least;
        row.iter_mut().for_each(|x| *x = if kept { Num::div(*x, s[i]) } else { T::int(0) });
    }
    multiply(|i, j| v[(i, j)], &inner, [n, side, k])
}

// With Z = (AᴴA + p)⁻¹ dX for a matrix of at least as many rows as columns:
//   dA = B Zᴴ - A (X Zᴴ + Z Xᴴ), dB = A Z, dp = -Re tr(Zᴴ X)
// and otherwise, with M = AAᴴ + p, W = M⁻¹ B and Z = M⁻¹ A dX:
//   dA = W (dX - Aᴴ Z)ᴴ - Z (Aᴴ W)ᴴ, dB = Z, dp = -Re tr(Zᴴ W)
fn grad<'g>(cx: &mut GradCx<'g, '_>) -> Result<()> {
    if !cx.attrs().bool("fast")? {
        return Err(Error::unimplemented(
            "Gradient not defined for fast=False\nthe gradient of MatrixSolveLs needs the normal equations",
        ));
    }
    let sides = cx.input_shape(0).dims().and_then(|d| match d {
        [.., m, n] => (*m).zip(*n),
        _ => None,
    });
    let Some((m, n)) = sides else {
        return Err(invalid!(
            "the gradient of MatrixSolveLs needs the numbers of rows and columns of `matrix`, whose shape is {}",
            cx.input_shape(0)
        ));
    };
    let (dx, a, b, penalty) = (cx.grad(0), cx.input(0), cx.input(1), cx.input(2));
    let tall = n <= m;
    let gram = product_of(cx, (a, tall), (a, !tall));
    let diagonal = cx.call("MatrixDiagPart", [gram]);
    let weight = cx.op("Cast").input(penalty).attr("DstT", cx.dtype(0)).output();
    let gram = cx.call("MatrixSetDiag", [gram, diagonal + weight]);
    let x = cx.output(0);
    let solved = |x: Output<'g>| cx.call("MatrixSolve", [gram, x]);
    let product = |x: Output<'g>, ax: bool, y: Output<'g>, ay: bool| product_of(cx, (x, ax), (y, ay));
    let (da, db, z, other) = if tall {
        let z = solved(dx);
        let both = product(x, false, z, true);
        let both = both + adjoint(cx, both);
        (product(b, false, z, true) - product(a, false, both, false), product(a, false, z, false), z, x)
    } else {
        let (w, z) = (solved(b), solved(product(a, false, dx, false)));
        let rest = dx - product(a, true, z, false);
        let da = product(w, false, rest, true) - product(z, false, product(a, true, w, false), true);
        (da, z, z, w)
    };
    let all = cx.conj(z) * other;
    let real = match cx.dtype(0) {
        C64 => cx.op("Real").input(all).attr("Tout", F32).output(),
        C128 => cx.op("Real").input(all).attr("Tout", F64).output(),
        _ => all,
    };
    let flat = cx.op("Reshape").input(real).input(cx.ints(&[-1])).output();
    let sum = cx.call("Sum", [flat, cx.ints(&[0])]);
    let dp = -cx.op("Cast").input(sum).attr("DstT", F64).output();
    cx.give(0, da);
    cx.give(1, db);
    cx.give(2, dp);
    Ok(())
}

cases! {
    of_more_rows: "MatrixSolveLs(f64 [[1.0 2.0] [3.0 4.0] [5.0 7.0]], f64 [[1.0] [2.0] [4.0]], f64 0.0) ~ f64 [[0.07142857142857142] [0.5]]",
    with_a_penalty: "MatrixSolveLs(f64 [[1.0] [2.0]], f64 [[3.0] [4.0]], f64 0.5) ~ f64 [[2.0]]",
    of_more_columns: "MatrixSolveLs([[3.0 4.0]], [[5.0]], f64 0.0) ~ [[0.6] [0.8]]",
    of_each: "MatrixSolveLs([[[2.0]] [[4.0]]], [[[2.0]] [[2.0]]], f64 0.0) = [[[1.0]] [[0.5]]]",
    of_low_rank: "MatrixSolveLs(f64 [[1.0 2.0] [2.0 4.0]], f64 [[5.0] [10.0]], f64 0.0; fast=false) ~ f64 [[1.0] [2.0]]",
    complex_ones: "MatrixSolveLs(c128 [[0+1i] [0+0i]], c128 [[2+0i] [3+0i]], f64 0.0) ~ c128 [[0-2i]]",
    without_rows: "MatrixSolveLs(f32[0,2] [], f32[0,1] [], f64 0.0) = [[0.0] [0.0]]",
    infers: "MatrixSolveLs(f32[?,3,2], f32[5,?,4], f64[]) : f32[5,2,4]",
    infers_from_one: "MatrixSolveLs(f32[..], f32[3,2], f64[]) : f32[?,2]",
    low_rank: "MatrixSolveLs([[1.0 2.0] [2.0 4.0]], [[1.0] [2.0]], f64 0.0) ! rank deficient or ill-conditioned",
    not_negative: "MatrixSolveLs([[1.0]], [[1.0]], f64 -1.0) ! l2_regularizer must be >= 0",
    rows_agree: "MatrixSolveLs([[1.0]], [[1.0] [2.0]], f64 0.0) ! batches and rows must be equal",
}
