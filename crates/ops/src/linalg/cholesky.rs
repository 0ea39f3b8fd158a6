//! `Cholesky`: the Cholesky factor of positive definite matrices.

use super::factor::{COST, Entry, TYPES, each_matrix, square};
use super::matrices::at_least;
use super::matrices::{adjoint, product_of};
use crate::number::no_kernel;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid, unequal, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("Cholesky")
        .doc(
            "Computes the Cholesky factor of each innermost matrix of `input`: the lower triangular matrix \
             whose product with its adjoint is the input matrix, which must be positive definite. Only the \
             lower triangle of `input` is read.",
        )
        .input("input", "T")
        .output("output", "T")
        .attr("T", OneOf(TYPES))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(COST))
        .gradient(Gradient::of(grad))
}

/// Returns the shape of `input` with the rows and columns of its matrices merged, or an error if they are not
/// square; `unequal` is TensorFlow's message.
pub(super) fn squared(cx: &InferCx, unequal: fn(usize, usize) -> String) -> Result<PartialShape> {
    let input = cx.input(0);
    at_least(cx.name_of(0), input, 2)?;
    let Some([batch @ .., rows, cols]) = input.dims() else { return Ok(input.clone()) };
    ensure!(
        rows.is_none() || cols.is_none() || rows == cols,
        "{}",
        unequal(rows.unwrap_or(0), cols.unwrap_or(0));
        "`{}` must hold square matrices but has shape {input}",
        cx.name_of(0)
    );
    let n = rows.or(*cols);
    Ok(PartialShape::new(batch.iter().copied().chain([n, n])))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = squared(cx, unequal)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = cx.input(0);
    let (_, n) = square("input", input.shape())?;
    let out: Result<Tensor> = with_element!(input.dtype(), T in wide_fields => {
        each_matrix::<T>(input, n, input.shape().clone(), |i, matrix| {
            root(matrix, n)?.ok_or_else(|| invalid!("Cholesky decomposition was not successful. The input might not be valid."; "matrix {i} of `input` is not positive definite"))
        })
    }, else => Err(no_kernel("Cholesky", input.dtype())));
    let out = out?;
    cx.set(0, out);
    Ok(())
}

/// Returns the Cholesky factor of a matrix, or nothing if it is not positive definite.
pub(super) fn root<T: Entry>(matrix: &[T], n: usize) -> Result<Option<Vec<T>>> {
    let mut pace = Pace::new();
    let mut out = vec![T::int(0); n * n];
    for i in 0..n {
        for j in 0..=i {
            pace.spend(j + 1)?;
            let rest =
                (0..j).fold(matrix[i * n + j], |rest, k| rest.sub(out[i * n + k].mul(out[j * n + k].conj())));
            out[i * n + j] = match i == j {
                true if rest.part() > 0.0 => T::real(rest.part()).sqrt(),
                true => return Ok(None),
                false => rest.div(out[j * n + j]),
            };
        }
    }
    Ok(Some(out))
}

// A = L Lᴴ: dA is half of S + Sᴴ, where S = L⁻ᴴ Φ(Lᴴ dL) L⁻¹, and Φ takes the lower triangle with half of its
// diagonal (Murray, "Differentiation of the Cholesky decomposition", 2016).
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dl, l) = (cx.grad(0), cx.output(0));
    let middle = product_of(cx, (l, true), (dl, false));
    let half = cx.call("MatrixDiagPart", [middle]) * 0.5;
    let middle = cx.call("MatrixSetDiag", [middle, half]);
    let middle = cx.op("MatrixBandPart").input(middle).input(-1i64).input(0i64).output();
    // L⁻ᴴ M L⁻¹ is the adjoint of L⁻ᴴ (L⁻ᴴ M)ᴴ.
    let solved = |m| {
        cx.op("MatrixTriangularSolve").input(l).input(m).attr("lower", true).attr("adjoint", true).output()
    };
    let s = solved(adjoint(cx, solved(middle)));
    cx.give(0, (s + adjoint(cx, s)) * 0.5);
    Ok(())
}

cases! {
    root_of_one: "Cholesky([[4.0 2.0] [2.0 5.0]]) ~ [[2.0 0.0] [1.0 2.0]]",
    root_of_each: "Cholesky([[[4.0 0.0] [2.0 5.0]] [[1.0 9.0] [0.0 1.0]]]) ~ [[[2.0 0.0] [1.0 2.0]] [[1.0 0.0] [0.0 1.0]]]",
    complex_numbers: "Cholesky(c64 [[2+0i 0-2i] [0+2i 4+0i]]) ~ c64 [[1.4142135+0i 0+0i] [0+1.4142135i 1.4142135+0i]]",
    nothing: "Cholesky(f32[0,2,2] []) = f32[0,2,2] []",
    infers: "Cholesky(f32[5,?,3]) : f32[5,3,3]",
    of_square_ones: "Cholesky([[1.0 2.0]]) ! must hold square matrices",
    positive_definite: "Cholesky([[1.0 2.0] [2.0 1.0]]) ! matrix 0 of `input` is not positive definite",
}
