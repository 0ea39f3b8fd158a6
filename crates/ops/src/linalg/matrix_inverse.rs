//! `MatrixInverse`: the inverse of matrices.

use super::cholesky::squared;
use super::factor::{COST, Entry, Lu, TYPES, adjoint, each_matrix, square};
use super::matrices::product_of;
use crate::number::{Num, no_kernel};
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Result, Tensor, unequal, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("MatrixInverse")
        .doc(
            "Computes the inverse of each innermost matrix of `input`, or of its adjoint if `adjoint` is \
             true.",
        )
        .input("input", "T")
        .output("output", "T")
        .attr("adjoint", Bool.or(false))
        .attr("T", OneOf(TYPES))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(COST))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = squared(cx, unequal)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, turned) = (cx.input(0), cx.attrs().bool("adjoint")?);
    let (_, n) = square("input", input.shape())?;
    let out: Result<Tensor> = with_element!(input.dtype(), T in wide_fields => {
        let one: Vec<T> = (0..n * n).map(|i| T::int((i % (n + 1) == 0).into())).collect();
        each_matrix::<T>(input, n, input.shape().clone(), |_, matrix| inverse(matrix, n, turned, &one))
    }, else => Err(no_kernel("MatrixInverse", input.dtype())));
    let out = out?;
    cx.set(0, out);
    Ok(())
}

fn inverse<T: Entry>(matrix: &[T], n: usize, turned: bool, one: &[T]) -> Result<Vec<T>> {
    match turned {
        true => Lu::new(&adjoint(matrix, n), n),
        false => Lu::new(matrix, n),
    }?
    .solve(one, n)
}

// dA⁻¹ = -A⁻¹ dA A⁻¹
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, y) = (cx.grad(0), cx.output(0));
    // For B = A⁻¹ the gradient is -Bᴴ dB Bᴴ; for B = A⁻ᴴ it is -B dBᴴ B.
    let dx = match cx.attrs().bool("adjoint")? {
        false => product_of(cx, (y, true), (product_of(cx, (dy, false), (y, true)), false)),
        true => product_of(cx, (y, false), (product_of(cx, (dy, true), (y, false)), false)),
    };
    cx.give(0, -dx);
    Ok(())
}

cases! {
    of_each: "MatrixInverse([[[2.0 0.0] [0.0 4.0]] [[1.0 2.0] [3.0 4.0]]]) ~ [[[0.5 0.0] [0.0 0.25]] [[-2.0 1.0] [1.5 -0.5]]]",
    of_the_adjoint: "MatrixInverse(c64 [[0+1i 0+0i] [1+0i 1+0i]]; adjoint=true) ~ c64 [[0+1i 0-1i] [0+0i 1+0i]]",
    pivots: "MatrixInverse(f64 [[0.0 1.0] [2.0 0.0]]) = f64 [[0.0 0.5] [1.0 0.0]]",
    nothing: "MatrixInverse(f32[0,0] []) = f32[0,0] []",
    infers: "MatrixInverse(f32[5,?,3]) : f32[5,3,3]",
    singular: "MatrixInverse([[1.0 2.0] [2.0 4.0]]) ! cannot be inverted",
    of_square_ones: "MatrixInverse([[1.0 2.0]]) ! must hold square matrices",
}
