//! `MatrixDeterminant`, `LogMatrixDeterminant`: determinants.

use super::cholesky::squared;
use super::factor::{COST, Entry, Lu, TYPES, each_matrix, square};
use super::matrices::per_matrix;
use crate::number::{Num, no_kernel};
use crate::shared::gradient::{part, whole};
use millstream_graph::Output;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, Shape, Tensor, unequal, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("MatrixDeterminant")
            .gradient(Gradient::of(grad))
            .doc("Computes the determinant of each innermost matrix of `input`.")
            .input("input", "T")
            .output("output", "T"),
        OpDef::new("LogMatrixDeterminant")
            .gradient(Gradient::of(grad_of_log))
            .doc(
                "Computes the sign and the logarithm of the absolute value of the determinant of each \
                 innermost matrix of `input`. The sign of a complex determinant is a number of absolute \
                 value 1.",
            )
            .input("input", "T")
            .output("sign", "T")
            .output("log_abs_determinant", "T"),
    ]
    .map(|def| def.attr("T", OneOf(TYPES)).infer(infer).kernel(Kernel::pure(run).cost(COST)))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    // TensorFlow names the columns first here.
    if let Some([batch @ .., _, _]) = squared(cx, |rows, cols| unequal(cols, rows))?.dims() {
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
    let outputs: Result<Vec<Tensor>> = with_element!(input.dtype(), T in wide_fields => match log {
        false => numbers::<T>(input, n, &batch, |lu| lu.pivots().fold(sign(lu), |d, p| d.mul(p)), 1).map(|t| vec![t]),
        true => {
            let size = |p: T| T::real(p.far().ln());
            let signs = numbers::<T>(input, n, &batch, |lu| lu.pivots().fold(sign(lu), |d, p| d.mul(p.sign())), 1)?;
            let logs = numbers::<T>(input, n, &batch, |lu| lu.pivots().fold(T::int(0), |d, p| d.add(size(p))), 0)?;
            Ok(vec![signs, logs])
        }
    }, else => Err(no_kernel(name, input.dtype())));
    outputs?.into_iter().enumerate().for_each(|(i, out)| cx.set(i, out));
    Ok(())
}

fn sign<T: Entry>(lu: &Lu<T>) -> T {
    T::int(if lu.is_odd() { -1 } else { 1 })
}

/// Returns `f` of the factors of each matrix, or `none` for matrices without rows.
fn numbers<T: Entry>(
    input: &Tensor,
    n: usize,
    batch: &Shape,
    f: impl Fn(&Lu<T>) -> T,
    none: i8,
) -> Result<Tensor> {
    match n {
        0 => Tensor::fill(batch.clone(), &Tensor::scalar(T::int(none))),
        _ => each_matrix::<T>(input, n, batch.clone(), |_, matrix| Ok(vec![f(&Lu::new(matrix, n)?)])),
    }
}

// d det(A) = det(A) tr(A⁻¹ dA)
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, a, y) = (cx.grad(0), cx.input(0), cx.output(0));
    let scale = per_matrix(cx, dy * cx.conj(y));
    cx.give(0, scale * inverse(cx, a));
    Ok(())
}

// d log|det(A)| = Re tr(A⁻¹ dA). The imaginary part turns the sign of a complex determinant.
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

/// Returns the adjoint of the inverse.
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
