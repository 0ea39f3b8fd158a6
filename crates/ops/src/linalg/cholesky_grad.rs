//! `CholeskyGrad`: the gradient of the Cholesky factor.

use super::cholesky::squared;
use super::factor::{COST, Entry, adjoint, each_matrix, square, substitute};
use crate::number::no_kernel;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F16, F32, F64};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, Tensor, ensure, unequal, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("CholeskyGrad")
        .doc(
            "Computes the gradient of `Cholesky` from `l`, its output, and `grad`, the gradient of its output. \
             Only the lower triangles are read. The result is symmetric.",
        )
        .input("l", "T")
        .input("grad", "T")
        .output("output", "T")
        .attr("T", OneOf(&[F16, F32, F64]))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(COST))
        .gradient(Gradient::Missing("TensorFlow has none: differentiate `Cholesky` twice instead"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = squared(cx, unequal)?;
    let grad = cx.input(1);
    cx.set(0, shape.merge(grad).unwrap_or(shape));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (l, grad) = (cx.input(0), cx.input(1));
    let (_, n) = square("l", l.shape())?;
    ensure!(
        l.shape() == grad.shape(),
        "Inputs (L and grad) must have the same shape.";
        "`l` has shape {} and `grad` has shape {}", l.shape(), grad.shape()
    );
    let out: Result<Tensor> = with_element!(l.dtype(), T in [F32 F64] => {
        let grads = grad.as_slice::<T>()?;
        each_matrix::<T>(l, n, l.shape().clone(), |i, l| back(l, &grads[i * n * n..(i + 1) * n * n], n))
    }, else => Err(no_kernel("CholeskyGrad", l.dtype())));
    let out = out?;
    cx.set(0, out);
    Ok(())
}

// Half of S + Sᵀ with S = L⁻ᵀ Φ(Lᵀ dL) L⁻¹, where Φ takes the lower triangle and half of its diagonal.
fn back<T: Entry>(l: &[T], grad: &[T], n: usize) -> Result<Vec<T>> {
    let mut pace = Pace::new();
    let mut s = vec![T::int(0); n * n];
    for i in 0..n {
        for j in 0..=i {
            pace.spend(n - i)?;
            let sum = (i..n).fold(T::int(0), |sum, k| sum.add(l[k * n + i].mul(grad[k * n + j])));
            s[i * n + j] = if i == j { sum.mul(T::real(0.5)) } else { sum };
        }
    }
    // L⁻ᵀ M L⁻¹ is the transpose of L⁻ᵀ (L⁻ᵀ M)ᵀ, and S + Sᵀ does not change if S is transposed.
    for _ in 0..2 {
        substitute(n, n, false, |i, j| l[j * n + i], &mut s)?;
        s = adjoint(&s, n);
    }
    Ok((0..n * n).map(|at| s[at].add(s[(at % n) * n + at / n]).mul(T::real(0.5))).collect())
}

cases! {
    of_one: "CholeskyGrad(f64 [[2.0 0.0] [1.0 3.0]], f64 [[1.0 2.0] [3.0 4.0]]) ~ f64 [[0.041666666666666664 0.4166666666666667] [0.4166666666666667 0.6666666666666666]]",
    of_each: "CholeskyGrad([[[2.0]] [[4.0]]], [[[1.0]] [[2.0]]]) = [[[0.25]] [[0.25]]]",
    nothing: "CholeskyGrad(f32[0,2,2] [], f32[0,2,2] []) = f32[0,2,2] []",
    infers: "CholeskyGrad(f32[?,3,3], f32[5,?,?]) : f32[5,3,3]",
    must_be_square: "CholeskyGrad([[1.0 2.0]], [[1.0 2.0]]) ! must hold square matrices",
    equal_shapes: "CholeskyGrad([[1.0]], [[[1.0]]]) ! must have the same shape",
}
