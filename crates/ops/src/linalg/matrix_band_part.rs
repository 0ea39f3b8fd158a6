//! `MatrixBandPart`: matrices with everything outside a band around the diagonal set to zero.

use super::matrices::split;
use crate::number::no_kernel;
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::{Element, Result, Tensor, ensure, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("MatrixBandPart")
        .doc(
            "Keeps the main diagonal, `num_lower` diagonals below it and `num_upper` above it of each \
             innermost matrix, and sets all other elements to zero. A negative number keeps all diagonals \
             on its side.",
        )
        .input("input", "T")
        .input("num_lower", "Tindex")
        .on_host()
        .input("num_upper", "Tindex")
        .on_host()
        .output("band", "T")
        .attr("T", AnyType)
        .attr("Tindex", IndexType.or(I64))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    cx.scalar(2)?;
    cx.same_as_input()
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (lower, upper) = (cx.int(1)?, cx.int(2)?);
    let mut out = cx.take(0);
    let (_, rows, cols) = split("input", out.shape())
        .map_err(|e| e.led_by(format!("input must be at least 2-dim, received shape: {}", out.shape())))?;
    for (name, given, most, lines) in
        [("num_lower", lower, rows, "rows"), ("num_upper", upper, cols, "columns")]
    {
        ensure!(
            given <= most as i64,
            "{name} must be negative or less or equal to number of {lines} ({most}) got: {given}";
            "`{name}` is {given} but the matrices are {rows} by {cols}: it may be at most {most}, or negative to keep all"
        );
    }
    let limit = |n: i64| usize::try_from(n).unwrap_or(usize::MAX);
    let (lower, upper) = (limit(lower), limit(upper));
    let dtype = out.dtype();
    with_element!(dtype, T => band::<T>(&mut out, rows, cols, lower, upper)?, else => return Err(no_kernel("MatrixBandPart", dtype)));
    cx.set(0, out);
    Ok(())
}

fn band<T: Element>(out: &mut Tensor, rows: usize, cols: usize, lower: usize, upper: usize) -> Result<()> {
    let cells = out.make_mut_or_copy::<T>()?;
    if cells.is_empty() {
        return Ok(());
    }
    for (i, row) in cells.chunks_exact_mut(cols).enumerate() {
        let i = i % rows;
        let start = i.saturating_sub(lower).min(cols);
        let end = i.saturating_add(upper).saturating_add(1).min(cols);
        row[..start].fill(T::default());
        row[end.max(start)..].fill(T::default());
    }
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, lower, upper) = (cx.grad(0), cx.input(1), cx.input(2));
    cx.give(0, cx.call("MatrixBandPart", [dy, lower, upper]));
    Ok(())
}

cases! {
    keeps_a_band: "MatrixBandPart([[1 2 3] [4 5 6] [7 8 9]], 1, 0) = [[1 0 0] [4 5 0] [0 8 9]]",
    negative_keeps_all: "MatrixBandPart([[1 2 3] [4 5 6] [7 8 9]], 0, -1) = [[1 2 3] [0 5 6] [0 0 9]]",
    of_each_matrix: "MatrixBandPart([[[1 2] [3 4]] [[5 6] [7 8]]], 0, 0) = [[[1 0] [0 4]] [[5 0] [0 8]]]",
    keeps_the_shape: "MatrixBandPart(f32[?,3,5], i64[], i64[]) : f32[?,3,5]",
    needs_a_matrix: "MatrixBandPart([1], 0, 0) ! `input` must have rank 2 or more",
    refuses_too_many: "MatrixBandPart([[1]], 2, 0) ! `num_lower` is 2",
}
