//! `Qr`: the QR decomposition of matrices.

use super::factor::{COST, Entry, TYPES};
use super::matrices::{adjoint, at_least, product_of, split};
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use millstream_graph::Output;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Error, PartialShape, Result, Shape, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("Qr")
        .doc(
            "Computes the QR decomposition of each innermost matrix by Householder reflections: `q`, which \
             has orthonormal columns, and the upper triangular `r`, whose product is the matrix. For an `m` \
             by `n` matrix, `q` has `min(m, n)` columns, or `m` if `full_matrices` is true, and `r` has as \
             many rows.",
        )
        .input("input", "T")
        .output("q", "T")
        .output("r", "T")
        .attr("full_matrices", Bool.or(false))
        .attr("T", OneOf(TYPES))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(COST))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let full = cx.attrs().bool("full_matrices")?;
    at_least("input", cx.input(0), 2)?;
    if let Some([batch @ .., rows, cols]) = cx.input(0).dims() {
        let inner = if full { *rows } else { rows.zip(*cols).map(|(m, n)| m.min(n)) };
        let of = |m, n| PartialShape::new(batch.iter().copied().chain([m, n]));
        let (q, r) = (of(*rows, inner), of(inner, *cols));
        cx.set(0, q);
        cx.set(1, r);
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, full) = (cx.input(0), cx.attrs().bool("full_matrices")?);
    let (q, r) = with_element!(input.dtype(), T in wide_fields => all::<T>(input, full), else => Err(no_kernel("Qr", input.dtype())))?;
    cx.set(0, q);
    cx.set(1, r);
    Ok(())
}

fn all<T: Entry>(input: &Tensor, full: bool) -> Result<(Tensor, Tensor)> {
    let (batch, m, n) = split("input", input.shape())?;
    let inner = if full { m } else { m.min(n) };
    let of = |m: usize, n: usize| Shape::new(batch.iter().copied().chain([m, n]));
    let (mut q, mut r) = (Tensor::zeros(T::DTYPE, of(m, inner))?, Tensor::zeros(T::DTYPE, of(inner, n))?);
    let (qs, rs) = (fresh::<T>(&mut q)?, fresh::<T>(&mut r)?);
    let matrices = input.as_slice::<T>()?;
    // A copy of one matrix, and its reflections.
    let _room = Room::of(m.saturating_mul(n + m.min(n)).saturating_mul(size_of::<T>()))?;
    for i in 0..qs.len().checked_div(m * inner).unwrap_or(0) {
        let matrix = matrices.get(i * m * n..(i + 1) * m * n).unwrap_or_default();
        let q = &mut qs[i * m * inner..(i + 1) * m * inner];
        one(matrix.to_vec(), [m, n, inner], q, &mut rs[i * inner * n..(i + 1) * inner * n])?;
    }
    Ok((q, r))
}

/// The matrix `I - tau v vᴴ`, where `v` is 1 at row `at` and zero before it.
struct Reflection<T> {
    at: usize,
    v: Vec<T>,
    tau: T,
}

impl<T: Entry> Reflection<T> {
    /// Returns the reflection that maps a column `x`, which begins at row `at`, to a real number followed by
    /// zeros, and that number. Its sign is chosen so that nothing cancels, but a column that already has this
    /// form is left unchanged.
    fn of(at: usize, x: &[T]) -> (Reflection<T>, f64) {
        let below: f64 = x[1..].iter().map(|v| v.far() * v.far()).sum();
        let imaginary = x[0].sub(T::real(x[0].part())).far();
        let mut v = vec![T::int(0); x.len()];
        v[0] = T::int(1);
        if below < f64::MIN_POSITIVE && imaginary * imaginary < f64::MIN_POSITIVE {
            return (Reflection { at, v, tau: T::int(0) }, x[0].part());
        }
        let size = (x[0].far() * x[0].far() + below).sqrt();
        let to = if x[0].part() < 0.0 { size } else { -size };
        let pivot = x[0].sub(T::real(to));
        v[1..].iter_mut().zip(&x[1..]).for_each(|(v, x)| *v = x.div(pivot));
        let tau = T::real(to).sub(x[0]).div(T::real(to)).conj();
        (Reflection { at, v, tau }, to)
    }

    /// Applies the reflection, or its adjoint, to the columns from `first` of a matrix with `n` columns.
    fn apply(&self, cells: &mut [T], n: usize, first: usize, adjoint: bool, pace: &mut Pace) -> Result<()> {
        let tau = if adjoint { self.tau.conj() } else { self.tau };
        let mut sums = vec![T::int(0); n - first];
        for (row, v) in cells.chunks_exact(n).skip(self.at).zip(&self.v) {
            pace.spend(sums.len())?;
            sums.iter_mut().zip(&row[first..]).for_each(|(sum, x)| *sum = sum.add(v.conj().mul(*x)));
        }
        for (row, v) in cells.chunks_exact_mut(n).skip(self.at).zip(&self.v) {
            let by = v.mul(tau);
            pace.spend(sums.len())?;
            row[first..].iter_mut().zip(&sums).for_each(|(x, sum)| *x = x.sub(by.mul(*sum)));
        }
        Ok(())
    }
}

/// Decomposes an `m` by `n` matrix: the reflections of its columns turn it into `r`, and their adjoints turn
/// the identity into `q`.
fn one<T: Entry>(mut matrix: Vec<T>, [m, n, inner]: [usize; 3], q: &mut [T], r: &mut [T]) -> Result<()> {
    let mut pace = Pace::new();
    let mut reflections = Vec::with_capacity(m.min(n));
    for k in 0..m.min(n) {
        let column: Vec<T> = (k..m).map(|i| matrix[i * n + k]).collect();
        let (reflection, to) = Reflection::of(k, &column);
        if k + 1 < n {
            reflection.apply(&mut matrix, n, k + 1, false, &mut pace)?;
        }
        matrix[k * n + k] = T::real(to);
        reflections.push(reflection);
    }
    for (i, (to, from)) in r.chunks_exact_mut(n.max(1)).zip(matrix.chunks_exact(n.max(1))).enumerate() {
        to[i.min(n)..].copy_from_slice(&from[i.min(n)..]);
    }
    q.iter_mut().step_by(inner + 1).take(inner).for_each(|x| *x = T::int(1));
    for reflection in reflections.iter().rev() {
        reflection.apply(q, inner, 0, true, &mut pace)?;
    }
    Ok(())
}

// A = [X Y] and R = [U V], where X and U have as many columns as Q. Then X = Q U and V = Qᴴ Y, so dY = Q dV,
// and Y dVᴴ is added to dQ.
fn grad(cx: &mut GradCx) -> Result<()> {
    let known =
        |i: usize| cx.input_shape(0).rank().and_then(|rank| cx.input_shape(0).dim(rank.checked_sub(i)?));
    let (m, n) = (known(2), known(1));
    if cx.attrs().bool("full_matrices")? && m.zip(n).is_none_or(|(m, n)| n < m) {
        let what = "the gradient of `full_matrices` is not defined where there are more rows than columns, or not known which are more";
        return Err(
            Error::unimplemented(what).with_help("leave `full_matrices` out, or give the input a shape")
        );
    }
    let (q, r, dq, dr) = (cx.output(0), cx.output(1), cx.grad(0), cx.grad(1));
    // R is zero below its diagonal, whatever A is.
    let dr = cx.op("MatrixBandPart").input(dr).input(0i64).input(-1i64).output();
    if m.zip(n).is_some_and(|(m, n)| n <= m) {
        let da = of_square_or_tall(cx, [q, r, dq, dr]);
        cx.give(0, da);
        return Ok(());
    }
    let a = cx.input(0);
    let size = cx.call("Shape", [q]);
    let columns = cx.op("StridedSlice").input(size).input([-1]).input([0]).input([1]);
    let columns = columns.attr("shrink_axis_mask", 1).attr("end_mask", 1).output();
    let (y, u) = (columns_from(cx, a, columns), columns_to(cx, r, columns));
    let (du, dv) = (columns_to(cx, dr, columns), columns_from(cx, dr, columns));
    let dq = dq + product_of(cx, (y, false), (dv, true));
    let dx = of_square_or_tall(cx, [q, u, dq, du]);
    let dy = product_of(cx, (q, false), (dv, false));
    cx.give(0, cx.op("ConcatV2").inputs([dx, dy]).input(-1).output());
    Ok(())
}

// For a change dA, the lower triangle of C = Qᴴ dA R⁻¹ gives the rotation of Q (by a skew matrix), and the
// rest of C gives the change of R. With S = dR Rᴴ and G = Qᴴ dQ - S, the gradient of C is S + tril(G - Gᴴ),
// with the diagonal halved because both triangles share it.
fn of_square_or_tall<'g>(cx: &GradCx<'g, '_>, [q, r, dq, dr]: [Output<'g>; 4]) -> Output<'g> {
    let s = product_of(cx, (dr, false), (r, true));
    let p = product_of(cx, (q, true), (dq, false));
    let g = p - s;
    let skew = cx.op("MatrixBandPart").input(g - adjoint(cx, g)).input(-1i64).input(0i64).output();
    let half = cx.call("MatrixDiagPart", [skew]) * 0.5;
    let dc = s + cx.call("MatrixSetDiag", [skew, half]);
    let turned = dq + product_of(cx, (q, false), (dc - p, false));
    // X R⁻ᴴ is the adjoint of R⁻¹ Xᴴ.
    let solved =
        cx.op("MatrixTriangularSolve").input(r).input(adjoint(cx, turned)).attr("lower", false).output();
    adjoint(cx, solved)
}

/// Returns the columns before `column`.
fn columns_to<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, column: Output<'g>) -> Output<'g> {
    let ends = cx.op("Pack").inputs([cx.graph().constant(0), column]).output();
    let part = cx.op("StridedSlice").input(x).input([0, 0]).input(ends).input([1, 1]);
    part.attr("ellipsis_mask", 1).attr("begin_mask", 2).output()
}

/// Returns the columns from `column` on.
fn columns_from<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, column: Output<'g>) -> Output<'g> {
    let starts = cx.op("Pack").inputs([cx.graph().constant(0), column]).output();
    let part = cx.op("StridedSlice").input(x).input(starts).input([0, 0]).input([1, 1]);
    part.attr("ellipsis_mask", 1).attr("end_mask", 2).output()
}

cases! {
    tall: "Qr(f64 [[1.0 2.0] [3.0 4.0] [5.0 7.0]]) ~ f64 [[-0.1690308509 0.9486832981] [-0.5070925528 -0.3162277660] [-0.8451542547 0.0]], \
           f64 [[-5.916079783 -8.282511696] [0.0 0.632455532]]",
    all_columns: "Qr(f64 [[1.0 2.0] [3.0 4.0] [5.0 7.0]]; full_matrices=true) \
           ~ f64 [[-0.1690308509 0.9486832981 -0.2672612419] [-0.5070925528 -0.3162277660 -0.8017837257] [-0.8451542547 0.0 0.5345224838]], \
           f64 [[-5.916079783 -8.282511696] [0.0 0.632455532] [0.0 0.0]]",
    wide: "Qr([[1.0 3.0 5.0] [2.0 4.0 7.0]]) ~ [[-0.447213595 -0.894427191] [-0.894427191 0.447213595]], \
           [[-2.236067977 -4.91934955 -8.497058314] [0.0 -0.894427191 -1.341640786]]",
    square: "Qr(f64 [[2.0 -1.0 3.0] [1.0 4.0 0.5] [-2.0 1.0 1.0]]) \
             ~ f64 [[-0.6666666667 0.2357022604 0.7071067812] [-0.3333333333 -0.9428090416 0.0] [0.6666666667 -0.2357022604 0.7071067812]], \
             f64 [[-3.0 0.0 -1.5] [0.0 -4.242640687 0.0] [0.0 0.0 2.828427125]]",
    column: "Qr(f64 [[3.0] [0.0] [4.0] [0.0]]) ~ f64 [[-0.6] [0.0] [-0.8] [0.0]], f64 [[-5.0]]",
    triangular_already: "Qr([[-1.0 2.0] [0.0 -4.0]]) = [[1.0 0.0] [0.0 1.0]], [[-1.0 2.0] [0.0 -4.0]]",
    of_zeros: "Qr([[[0.0 0.0] [0.0 0.0]]]) = [[[1.0 0.0] [0.0 1.0]]], [[[0.0 0.0] [0.0 0.0]]]",
    complex_numbers: "Qr(c128 [[1+2i 2+0i] [0+3i 4+0i]]) \
             ~ c128 [[-0.2672612419-0.534522484i 0.3585685828-0.717137166i] [0.0-0.801783726i -0.4780914437+0.358568583i]], \
             c128 [[-3.741657387+0i -0.534522484+4.276179871i] [0+0i -1.195228609+0i]]",
    complex_row: "Qr(c128 [[1+2i 2+0i]]) ~ c128 [[-0.447213595-0.894427191i]], c128 [[-2.236067977+0i -0.894427191+1.788854382i]]",
    no_rows: "Qr(f32[2,0,3] []) = f32[2,0,0] [], f32[2,0,3] []",
    no_columns: "Qr(f32[2,0] []; full_matrices=true) = [[1.0 0.0] [0.0 1.0]], f32[2,0] []",
    infers: "Qr(f32[?,5,3]) : f32[?,5,3], f32[?,3,3]",
    infers_all: "Qr(f32[5,?]; full_matrices=true) : f32[5,5], f32[5,?]",
    matrices: "Qr([1.0]) ! `input` must have rank 2 or more",
}
