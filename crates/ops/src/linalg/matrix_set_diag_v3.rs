//! `MatrixSetDiagV2`, `MatrixSetDiagV3`: matrices with a range of diagonals replaced.

use super::band::{ALIGNMENTS, Band};
use super::band::{PUT, TAKE, of_same_version};
use super::matrices::{at_least, split};
use millstream_graph::op::spec::{AnyType, Spec, Words};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::{PartialShape, Result, Shape, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    let def = |name| {
        OpDef::new(name)
            .input("input", "T")
            .input("diagonal", "T")
            .input("k", I32)
            .on_host()
            .output("output", "T")
            .attr("T", AnyType)
            .infer(infer)
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    };
    [
        def("MatrixSetDiagV2").doc(
            "Replaces the diagonals `k` of each innermost matrix of `input` by the innermost rows of \
             `diagonal`, the highest first. `k` is one number, or the lowest and the highest of a range.",
        ),
        def("MatrixSetDiagV3")
            .doc(
                "Replaces diagonals as MatrixSetDiagV2 does. `align` selects the side of `diagonal` to \
                 which the diagonals above and below the main one are aligned.",
            )
            .attr("align", Words(ALIGNMENTS).or("RIGHT_LEFT")),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    at_least("input", cx.input(0), 2)?;
    at_least("diagonal", cx.input(1), 1)?;
    if let (Some(band), Some([batch @ .., rows, cols])) = (Band::inferred(cx, 2)?, cx.input(0).dims()) {
        let wanted = PartialShape::new(band.dims(batch, *rows, *cols)?);
        ensure!(
            wanted.is_compatible(cx.input(1)),
            "`diagonal` has shape {} but the diagonals of `input` have shape {wanted}",
            cx.input(1)
        );
    }
    cx.same_as_input()
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let band = Band::of(cx, 2)?;
    let diagonal = cx.take(1);
    let mut out = cx.take(0);
    let shape = out.shape().clone();
    let (batch, rows, cols) = split("input", &shape)?;
    let wanted = Shape::new(band.shape(batch, band.longest(rows, cols)?, |n| n)?);
    ensure!(
        *diagonal.shape() == wanted,
        "`diagonal` has shape {} but the diagonals of `input` have shape {wanted}",
        diagonal.shape()
    );
    if out.elements() > 0 {
        band.write(&diagonal, &mut out, batch, rows, cols)?;
    }
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, k) = (cx.grad(0), cx.input(2));
    if cx.wants(0) {
        let zeros = cx.zeros_like_input(1);
        cx.give(0, of_same_version(cx, PUT).inputs([dy, zeros, k]).output());
    }
    if cx.wants(1) {
        let zero = cx.scalar(cx.dtype(0), 0.0);
        cx.give(1, of_same_version(cx, TAKE).inputs([dy, k, zero]).output());
    }
    Ok(())
}

cases! {
    main: "MatrixSetDiagV3([[1 2 3] [4 5 6]], [7 8], 0) = [[7 2 3] [4 8 6]]",
    above: "MatrixSetDiagV2([[1 2 3] [4 5 6]], [7 8], 1) = [[1 7 3] [4 5 8]]",
    a_band: "MatrixSetDiagV3([[1 2] [3 4]], [[7 8] [9 0]], [-1 0]) = [[7 2] [9 8]]",
    aligned_right: "MatrixSetDiagV3([[1 2] [3 4]], [[7 8] [0 9]], [-1 0]; align=\"LEFT_RIGHT\") = [[7 2] [9 8]]",
    keeps_unknowns: "MatrixSetDiagV3(f32[?,3,5], f32[..], i32[]) : f32[?,3,5]",
    diagonal_fits: "MatrixSetDiagV3([[1 2] [3 4]], [1 2], 1) ! the diagonals of `input` have shape [1]",
}
