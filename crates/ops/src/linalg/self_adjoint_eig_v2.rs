//! `SelfAdjointEigV2`: the eigenvalues and eigenvectors of self-adjoint matrices.

use super::cholesky::squared;
use super::factor::{TYPES, square};
use super::matrices::{adjoint, product_of};
use super::spectra::{SPECTRAL_COST, Spectral, all_finite, columns, fill_apart, inverse_gaps, is_long};
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use faer::{MatRef, Side};
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Room;
use millstream_tensor::pace::look;
use millstream_tensor::{Error, PartialShape, Result, Shape, Tensor, invalid, unequal, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("SelfAdjointEigV2")
        .doc(
            "Computes the eigenvalues of each innermost matrix, which must be self-adjoint, in ascending order, \
             and its eigenvectors, the columns of `v`. Only the lower triangle of `input` is read. If \
             `compute_v` is false, `v` is an empty vector. The sign of an eigenvector is arbitrary. The matrix \
             must be finite.",
        )
        .input("input", "T")
        .output("e", "T")
        .output("v", "T")
        .attr("compute_v", Bool.or(true))
        .attr("T", OneOf(TYPES))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(SPECTRAL_COST))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = squared(cx, unequal)?;
    if let Some([batch @ .., n, _]) = shape.dims() {
        cx.set(0, PartialShape::new(batch.iter().copied().chain([*n])));
    }
    cx.set(1, if cx.attrs().bool("compute_v")? { shape } else { PartialShape::new([Some(0)]) });
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, vectors) = (cx.input(0), cx.attrs().bool("compute_v")?);
    let (e, v) = with_element!(input.dtype(), T in wide_fields => all::<T>(input, vectors), else => Err(no_kernel("SelfAdjointEigV2", input.dtype())))?;
    cx.set(0, e);
    cx.set(1, v);
    Ok(())
}

pub(super) fn all<T: Spectral>(input: &Tensor, vectors: bool) -> Result<(Tensor, Tensor)> {
    let (batch, n) = square("input", input.shape())?;
    let mut e = Tensor::zeros(T::DTYPE, Shape::new(batch.iter().copied().chain([n])))?;
    let mut v = Tensor::zeros(T::DTYPE, if vectors { input.shape().clone() } else { Shape::from([0]) })?;
    let (values, cells) = (fresh::<T>(&mut e)?, fresh::<T>(&mut v)?);
    let scratch = n.saturating_mul(n).saturating_mul(4 * size_of::<T>());
    let _room = (!is_long(n, n)).then(|| Room::of(scratch)).transpose()?;
    let failed = || invalid!("Self-adjoint eigen decomposition was not successful. The input might not be valid."; "an element of `input` is not finite");
    for (i, matrix) in input.as_slice::<T>()?.chunks_exact((n * n).max(1)).enumerate() {
        look()?;
        if !all_finite(matrix) {
            return Err(failed());
        }
        let range = i * n * n..(i + 1) * n * n;
        let to = &mut values[i * n..(i + 1) * n];
        let cells = if vectors { &mut cells[range.clone()] } else { &mut [] };
        if !is_long(n, n) {
            decompose(matrix, n, to, cells)?;
            continue;
        }
        let input = input.clone();
        fill_apart(scratch, &mut [to, cells], move |out| match out {
            [e, v] => decompose(&input.as_slice::<T>()?[range], n, e, v),
            _ => Err(Error::internal("a decomposition has two parts")),
        })?;
    }
    Ok((e, v))
}

/// Decomposes one matrix. `v` is empty if only the values are wanted.
fn decompose<T: Spectral>(matrix: &[T], n: usize, e: &mut [T], v: &mut [T]) -> Result<()> {
    let matrix = MatRef::from_row_major_slice(matrix, n, n);
    let failed = |_| Error::internal("the decomposition into eigenvalues did not converge");
    if v.is_empty() {
        let found = matrix.self_adjoint_eigenvalues(Side::Lower).map_err(failed)?;
        e.iter_mut().zip(found).for_each(|(to, from)| *to = <T as Spectral>::real_value(from));
        return Ok(());
    }
    let found = matrix.self_adjoint_eigen(Side::Lower).map_err(failed)?;
    e.iter_mut().zip(found.S().column_vector().iter()).for_each(|(to, from)| *to = *from);
    columns(found.U(), v);
    Ok(())
}

// dA = V (diag(de) + F∘VᴴdV) Vᴴ with F = 1 / (e_j - e_i) off the diagonal. Because only the lower triangle
// of A is read, the gradient of an element above the diagonal is added to that of its mirror image.
fn grad(cx: &mut GradCx) -> Result<()> {
    let de = cx.grad(0);
    let diagonal = cx.call("MatrixDiag", [de]);
    let (v, inner) = if cx.attrs().bool("compute_v")? {
        let (e, v, dv) = (cx.output(0), cx.output(1), cx.grad(1));
        let turned = inverse_gaps(cx, e) * product_of(cx, (v, true), (dv, false));
        (v, diagonal + turned)
    } else {
        let a = cx.input(0);
        (cx.op("SelfAdjointEigV2").input(a).finish().output(1), diagonal)
    };
    let da = product_of(cx, (v, false), (product_of(cx, (inner, false), (v, true)), false));
    let both = cx.op("MatrixBandPart").input(da + adjoint(cx, da)).input(-1i64).input(0i64).output();
    let half = cx.call("MatrixDiagPart", [both]) * 0.5;
    cx.give(0, cx.call("MatrixSetDiag", [both, half]));
    Ok(())
}

cases! {
    values_alone: "SelfAdjointEigV2(f64 [[2.0 1.0] [1.0 3.0]]; compute_v=false) ~ f64 [1.381966011 3.618033989], f64[0] []",
    reads_the_lower_triangle: "SelfAdjointEigV2([[2.0 9.0] [1.0 3.0]]; compute_v=false) ~ [1.381966 3.618034], f32[0] []",
    of_each: "SelfAdjointEigV2([[[2.0]] [[-3.0]]]; compute_v=false) = [[2.0] [-3.0]], f32[0] []",
    complex_ones: "SelfAdjointEigV2(c128 [[1+0i 0-2i] [0+2i 1+0i]]; compute_v=false) ~ c128 [-1+0i 3+0i], c128[0] []",
    of_no_rows: "SelfAdjointEigV2(f32[2,0,0] []) = f32[2,0] [], f32[2,0,0] []",
    must_be_finite: "SelfAdjointEigV2([[nan]]) ! not successful",
    infers: "SelfAdjointEigV2(f32[?,3,3]) : f32[?,3], f32[?,3,3]",
    must_be_square: "SelfAdjointEigV2(f32[2,3]) ! `input` must hold square matrices",
}
