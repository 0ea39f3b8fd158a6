//! `Svd`: the singular value decomposition of matrices.

use super::factor::TYPES;
use super::matrices::{adjoint, at_least, product_of, split};
use super::spectra::{
    SPECTRAL_COST, Spectral, all_finite, columns, fill_apart, inverse_gaps, is_long, scaled_columns,
};
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use faer::MatRef;
use faer::linalg::solvers::Svd;
use millstream_graph::Output;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::look;
use millstream_tensor::{Error, PartialShape, Result, Shape, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("Svd")
        .doc(
            "Computes the singular value decomposition of each innermost matrix: `s`, the singular values in \
             descending order, and `u` and `v`, whose columns are the left and right singular vectors. The \
             matrix is the product of `u`, the diagonal matrix of `s`, and the adjoint of `v`. For an `m` by \
             `n` matrix, `u` and `v` have `min(m, n)` columns, or `m` and `n` if `full_matrices` is true. If \
             `compute_uv` is false, they are empty vectors. The sign of a pair of singular vectors is \
             arbitrary. A matrix with an element that is not finite has results of NaN.",
        )
        .input("input", "T")
        .output("s", "T")
        .output("u", "T")
        .output("v", "T")
        .attr("compute_uv", Bool.or(true))
        .attr("full_matrices", Bool.or(false))
        .attr("T", OneOf(TYPES))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(SPECTRAL_COST))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (vectors, full) = (cx.attrs().bool("compute_uv")?, cx.attrs().bool("full_matrices")?);
    at_least("input", cx.input(0), 2)?;
    if !vectors {
        cx.set(1, PartialShape::new([Some(0)]));
        cx.set(2, PartialShape::new([Some(0)]));
    }
    if let Some([batch @ .., rows, cols]) = cx.input(0).dims() {
        let (m, n) = (*rows, *cols);
        let short = m.zip(n).map(|(m, n)| m.min(n));
        let of = |dims: &[Option<usize>]| PartialShape::new(batch.iter().chain(dims).copied());
        let (s, u, v) =
            (of(&[short]), of(&[m, if full { m } else { short }]), of(&[n, if full { n } else { short }]));
        cx.set(0, s);
        if vectors {
            cx.set(1, u);
            cx.set(2, v);
        }
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, vectors, full) =
        (cx.input(0), cx.attrs().bool("compute_uv")?, cx.attrs().bool("full_matrices")?);
    let out = with_element!(input.dtype(), T in wide_fields => all::<T>(input, vectors, full), else => Err(no_kernel("Svd", input.dtype())))?;
    out.into_iter().enumerate().for_each(|(i, out)| cx.set(i, out));
    Ok(())
}

fn all<T: Spectral>(input: &Tensor, vectors: bool, full: bool) -> Result<[Tensor; 3]> {
    let (batch, m, n) = split("input", input.shape())?;
    let short = m.min(n);
    let of = |dims: &[usize]| Shape::new(batch.iter().chain(dims).copied());
    let [us, vs] = match vectors {
        true => [of(&[m, if full { m } else { short }]), of(&[n, if full { n } else { short }])],
        false => [Shape::from([0]), Shape::from([0])],
    };
    let (mut s, mut u, mut v) =
        (Tensor::zeros(T::DTYPE, of(&[short]))?, Tensor::zeros(T::DTYPE, us)?, Tensor::zeros(T::DTYPE, vs)?);
    // The matrix, its factors, and what the decomposition works with.
    let scratch =
        (m.saturating_mul(m).saturating_add(n.saturating_mul(n))).saturating_mul(3 * size_of::<T>());
    let _room = (!is_long(m, n)).then(|| Room::of(scratch)).transpose()?;
    let (values, mut left, mut right) = (fresh::<T>(&mut s)?, fresh::<T>(&mut u)?, fresh::<T>(&mut v)?);
    let count: usize = batch.iter().product();
    for i in 0..count {
        look()?;
        let range = i * m * n..(i + 1) * m * n;
        let one = &mut values[i * short..(i + 1) * short];
        let (here, rest) = left.split_at_mut(left.len() / (count - i));
        left = rest;
        let (there, rest) = right.split_at_mut(right.len() / (count - i));
        right = rest;
        if !is_long(m, n) {
            decompose(&input.as_slice::<T>()?[range], [m, n], full, one, here, there)?;
            continue;
        }
        let input = input.clone();
        fill_apart(scratch, &mut [one, here, there], move |out| match out {
            [s, u, v] => decompose(&input.as_slice::<T>()?[range], [m, n], full, s, u, v),
            _ => Err(Error::internal("a decomposition has three parts")),
        })?;
    }
    Ok([s, u, v])
}

/// Decomposes one matrix. `u` and `v` are empty if only the values are wanted.
fn decompose<T: Spectral>(
    matrix: &[T],
    [m, n]: [usize; 2],
    full: bool,
    s: &mut [T],
    u: &mut [T],
    v: &mut [T],
) -> Result<()> {
    if !all_finite(matrix) {
        [s, u, v].into_iter().for_each(|out| out.fill(T::real(f64::NAN)));
        return Ok(());
    }
    let cells = MatRef::from_row_major_slice(matrix, m, n);
    let failed = |_| Error::internal("the singular value decomposition did not converge");
    if u.is_empty() && v.is_empty() {
        let values = cells.singular_values().map_err(failed)?;
        s.iter_mut().zip(values).for_each(|(to, from)| *to = <T as Spectral>::real_value(from));
        return Ok(());
    }
    let svd = if full { Svd::new(cells) } else { Svd::new_thin(cells) }.map_err(failed)?;
    s.iter_mut().zip(svd.S().column_vector().iter()).for_each(|(to, from)| *to = *from);
    columns(svd.U(), u);
    columns(svd.V(), v);
    Ok(())
}

// The formulas of "Structured higher-order algorithmic differentiation" (Walter and others, 2012), as
// TensorFlow has them. With F = 1 / (s_j² - s_i²) off the diagonal, a wide matrix has
//
//   dA = U (diag(ds) + (F∘UᴴdU + its adjoint) S + S (F∘V₁ᴴdV₁ + its adjoint)) V₁ᴴ + U S⁻¹ dV₁ᵀ (1 - V₁V₁ᴴ),
//
// where V₁ are the first columns of V. A tall one is the adjoint of a wide one.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dims = |shape: &PartialShape| match shape.dims() {
        Some([.., Some(m), Some(n)]) => Some((*m, *n)),
        _ => None,
    };
    if !cx.attrs().bool("compute_uv")? {
        let a = cx.input(0);
        let ds = cx.grad(0);
        let svd = cx.op("Svd").input(a).finish();
        let (u, v) = (svd.output(1), svd.output(2));
        let right = product_of(cx, (cx.call("MatrixDiag", [ds]), false), (v, true));
        let da = product_of(cx, (u, false), (right, false));
        cx.give(0, da);
        return Ok(());
    }
    let Some((m, n)) = dims(&cx.input_shape(0)) else {
        return Err(Error::unimplemented(
            "SVD gradient has not been implemented for input with unknown inner matrix shape.",
        )
        .with_help("give the input a shape with `set_shape`"));
    };
    let full = cx.attrs().bool("full_matrices")?;
    if full && 1 < m.abs_diff(n) {
        return Err(Error::unimplemented(
            "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True",
        )
        .with_help("leave `full_matrices` out"));
    }
    if cx.dtype(0).is_complex() {
        return Err(Error::unimplemented(
            "the gradient of the decomposition of complex matrices is not implemented",
        ));
    }
    let (s, ds) = (cx.output(0), cx.grad(0));
    let (mut left, mut right) = ((cx.output(1), cx.grad(1)), (cx.output(2), cx.grad(2)));
    let tall = n < m;
    let (m, n) = (m.min(n), m.max(n));
    if tall {
        std::mem::swap(&mut left, &mut right);
    }
    let (u, du) = left;
    let (v1, dv1) = (first(cx, right.0, m, n, full), first(cx, right.1, m, n, full));
    let s_mat = cx.call("MatrixDiag", [s]);
    let f = inverse_gaps(cx, cx.call("Square", [s]));
    let f_u = f * product_of(cx, (u, true), (du, false));
    let f_v = f * product_of(cx, (v1, true), (dv1, false));
    let inner = cx.call("MatrixDiag", [ds])
        + product_of(cx, (f_u + adjoint(cx, f_u), false), (s_mat, false))
        + product_of(cx, (s_mat, false), (f_v + adjoint(cx, f_v), false));
    let mut da = product_of(cx, (u, false), (product_of(cx, (inner, false), (v1, true)), false));
    if m != n {
        let turned = adjoint(cx, dv1);
        let onto = product_of(cx, (turned, false), (v1, false));
        let mut rest = turned - product_of(cx, (onto, false), (v1, true));
        if full {
            let (v2, dv2) = (last(cx, right.0, m), last(cx, right.1, m));
            let across = product_of(cx, (v1, true), (dv2, false));
            rest = rest - product_of(cx, (across, false), (v2, true));
        }
        let by_s = scaled_columns(cx, u, cx.call("Reciprocal", [s]));
        da = da + product_of(cx, (by_s, false), (rest, false));
    }
    let da = if tall { adjoint(cx, da) } else { da };
    cx.give(0, da);
    Ok(())
}

/// Returns the first `m` of `n` columns, if there are others.
fn first<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, m: usize, n: usize, full: bool) -> Output<'g> {
    if !full || m == n {
        return x;
    }
    let part = cx
        .op("StridedSlice")
        .input(x)
        .input(cx.ints(&[0, 0]))
        .input(cx.ints(&[0, m as i32]))
        .input(cx.ints(&[1, 1]));
    part.attr("ellipsis_mask", 1).attr("begin_mask", 2).output()
}

/// Returns the columns from `m` on.
fn last<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, m: usize) -> Output<'g> {
    let part = cx
        .op("StridedSlice")
        .input(x)
        .input(cx.ints(&[0, m as i32]))
        .input(cx.ints(&[0, 0]))
        .input(cx.ints(&[1, 1]));
    part.attr("ellipsis_mask", 1).attr("end_mask", 2).output()
}

cases! {
    values_alone: "Svd(f64 [[3.0 0.0] [4.0 5.0]]; compute_uv=false) ~ f64 [6.708203932 2.236067977], f64[0] [], f64[0] []",
    values_of_a_tall_one: "Svd([[3.0 0.0] [0.0 4.0] [0.0 0.0]]; compute_uv=false) ~ [4.0 3.0], f32[0] [], f32[0] []",
    values_of_each: "Svd([[[2.0]] [[-3.0]]]; compute_uv=false) ~ [[2.0] [3.0]], f32[0] [], f32[0] []",
    of_no_rows: "Svd(f32[2,0,3] []) = f32[2,0] [], f32[2,0,0] [], f32[2,3,0] [[[] [] []] [[] [] []]]",
    infers: "Svd(f32[?,5,3]) : f32[?,3], f32[?,5,3], f32[?,3,3]",
    infers_all: "Svd(f32[?,5,3]; full_matrices=true) : f32[?,3], f32[?,5,5], f32[?,3,3]",
    infers_unknowns: "Svd(f32[5,?]) : f32[?], f32[5,?], f32[?,?]",
    matrices: "Svd([1.0]) ! `input` must have rank 2 or more",
}
