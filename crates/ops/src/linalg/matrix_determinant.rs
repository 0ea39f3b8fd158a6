//! `MatrixDeterminant`, `LogMatrixDeterminant`: determinants.

use super::parts::per_matrix;
use crate::math::complex_parts::{part, whole};
use super::cholesky::squared;
use super::factor::{COST, Entry, Lu, TYPES, each_matrix, square, with_entry};
use crate::math::numbers::Num;
use millstream_graph::Output;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, Shape, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("MatrixDeterminant").gradient(Gradient::of(grad))
            .doc("The determinant of each innermost matrix of `input`.")
            .input("input", "T")
            .output("output", "T"),
        OpDef::new("LogMatrixDeterminant").gradient(Gradient::of(grad_of_log))
            .doc("The determinant of each innermost matrix of `input` as a number of size 1 and the logarithm of its size.")
            .input("input", "T")
            .output("sign", "T")
            .output("log_abs_determinant", "T"),
    ]
    .map(|def| def.attr("T", OneOf(TYPES)).infer(infer).kernel(Kernel::pure(run).cost(COST)))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    if let Some([batch @ .., _, _]) = squared(cx)?.dims() {
        let shape = PartialShape::new(batch.iter().copied());
        (0..cx.n_outputs()).for_each(|i| cx.set(i, shape.clone()));
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = cx.input(0);
    let (batch, n) = square("input", input.shape())?;
    let (batch, log) = (Shape::from(batch), cx.n_outputs() == 2);
    let name = cx.node.op.name;
    let outputs: Result<Vec<Tensor>> = with_entry!(name, input.dtype(), T => match log {
        false => numbers::<T>(input, n, &batch, |lu| lu.pivots().fold(sign(lu), |d, p| d.mul(p)), 1).map(|t| vec![t]),
        true => {
            let size = |p: T| T::real(p.far().ln());
            let signs = numbers::<T>(input, n, &batch, |lu| lu.pivots().fold(sign(lu), |d, p| d.mul(p.sign())), 1)?;
            let logs = numbers::<T>(input, n, &batch, |lu| lu.pivots().fold(T::int(0), |d, p| d.add(size(p))), 0)?;
            Ok(vec![signs, logs])
        }
    });
    outputs?.into_iter().enumerate().for_each(|(i, out)| cx.set(i, out));
    Ok(())
}

fn sign<T: Entry>(lu: &Lu<T>) -> T {
    T::int(if lu.is_odd() { -1 } else { 1 })
}

/// A number per matrix; of matrices without rows it is `none`.
fn numbers<T: Entry>(input: &Tensor, n: usize, batch: &Shape, f: impl Fn(&Lu<T>) -> T, none: i8) -> Result<Tensor> {
    match n {
        0 => Tensor::fill(batch.clone(), &Tensor::scalar(T::int(none))),
        _ => each_matrix::<T>(input, n, batch.clone(), |_, matrix| Ok(vec![f(&Lu::new(matrix, n))])),
    }
}

// d det(A) = det(A) tr(A⁻¹ dA)
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, a, y) = (cx.grad(0), cx.input(0), cx.output(0));
    let scale = per_matrix(cx, dy * cx.conj(y));
    cx.give(0, scale * inverse(cx, a));
    Ok(())
}

// d log|det(A)| = Re tr(A⁻¹ dA); the sign of complex ones is turned by the imaginary part.
fn grad_of_log(cx: &mut GradCx) -> Result<()> {
    let (mut scale, a) = (cx.grad(1), cx.input(0));
    if cx.dtype(0).is_complex() {
        let (dsign, sign) = (cx.grad(0), cx.output(0));
        let turn = part(cx, "Imag", dsign * cx.conj(sign));
        let real = part(cx, "Real", scale);
        scale = whole(cx, real, turn);
    }
    let scale = per_matrix(cx, scale);
    cx.give(0, scale * inverse(cx, a));
    Ok(())
}

/// The adjoint of the inverse.
fn inverse<'g>(cx: &GradCx<'g, '_>, a: Output<'g>) -> Output<'g> {
    cx.op("MatrixInverse").input(a).attr("adjoint", true).output()
}

cases! {
    of_each: "MatrixDeterminant([[[1.0 2.0] [3.0 4.0]] [[2.0 0.0] [0.0 5.0]]]) ~ [-2.0 10.0]",
    of_singular_ones: "MatrixDeterminant(f64 [[1.0 2.0] [2.0 4.0]]) ~ f64 0.0",
    of_complex_numbers: "MatrixDeterminant(c64 [[0+1i 0+0i] [0+0i 0+1i]]) ~ c64 -1+0i",
    of_nothing: "MatrixDeterminant(f32[2,0,0] []) = [1.0 1.0]",
    sign_and_size: "LogMatrixDeterminant([[0.0 2.0] [3.0 0.0]]) ~ -1.0, 1.791759469228055",
    infers: "LogMatrixDeterminant(f32[?,3,?]) : f32[?], f32[?]",
    of_square_ones: "MatrixDeterminant([[1.0 2.0]]) ! must hold square matrices",
}
