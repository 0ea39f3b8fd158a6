//! `Lu`: the LU decomposition of square matrices.

use super::cholesky::squared;
use super::factor::{COST, Entry, Lu, TYPES, singular, square};
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, I64};
use millstream_tensor::{PartialShape, Result, Shape, Tensor, unequal, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("Lu")
        .doc(
            "Computes the LU decomposition of each innermost matrix with partial pivoting. `lu` holds both \
             factors: the upper triangular one, and below its diagonal the lower triangular one, whose diagonal \
             of ones is left out. Row `i` of their product is row `p[i]` of the matrix, which must be invertible.",
        )
        .input("input", "T")
        .output("lu", "T")
        .output("p", "output_idx_type")
        .attr("T", OneOf(TYPES))
        .attr("output_idx_type", OneOf(&[I32, I64]).or(I32))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(COST))
        .gradient(Gradient::none("TensorFlow 1 defines none"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = squared(cx, unequal)?;
    if let Some([batch @ .., n, _]) = shape.dims() {
        cx.set(1, PartialShape::new(batch.iter().copied().chain([*n])));
    }
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, dtype) = (cx.input(0), cx.attrs().dtype("output_idx_type")?);
    let (lu, p) = with_element!(input.dtype(), T in wide_fields => all::<T>(input), else => Err(no_kernel("Lu", input.dtype())))?;
    let (rows, shape) = p;
    let p = match dtype {
        I32 => Tensor::from_slice(shape, &rows.iter().map(|i| *i as i32).collect::<Vec<_>>())?,
        _ => Tensor::from_slice(shape, &rows)?,
    };
    cx.set(0, lu);
    cx.set(1, p);
    Ok(())
}

/// Returns the factors, and the rows with their shape.
fn all<T: Entry>(input: &Tensor) -> Result<(Tensor, (Vec<i64>, Shape))> {
    let (batch, n) = square("input", input.shape())?;
    let mut out = Tensor::zeros(T::DTYPE, input.shape().clone())?;
    let mut rows = Vec::new();
    let cells = fresh::<T>(&mut out)?;
    for (matrix, to) in
        input.as_slice::<T>()?.chunks_exact((n * n).max(1)).zip(cells.chunks_exact_mut((n * n).max(1)))
    {
        let lu = Lu::new(matrix, n)?;
        if lu.pivots().any(|p| p.far() == 0.0) {
            return Err(singular());
        }
        to.copy_from_slice(lu.cells());
        rows.extend(lu.rows().iter().map(|i| *i as i64));
    }
    Ok((out, (rows, Shape::new(batch.iter().copied().chain([n])))))
}

cases! {
    exchanges_rows: "Lu([[1.0 2.0] [4.0 6.0]]) = [[4.0 6.0] [0.25 0.5]], [1 0]",
    of_each: "Lu(f64 [[[2.0]] [[-3.0]]]; output_idx_type=i64) = f64 [[[2.0]] [[-3.0]]], i64 [[0] [0]]",
    of_no_rows: "Lu(f32[2,0,0] []) = f32[2,0,0] [], i32[2,0] []",
    must_be_invertible: "Lu([[1.0 1.0] [1.0 1.0]]) ! Input is not invertible.",
    infers: "Lu(f32[?,3,3]) : f32[?,3,3], i32[?,3]",
    must_be_square: "Lu(f32[2,3]) ! `input` must hold square matrices",
}
