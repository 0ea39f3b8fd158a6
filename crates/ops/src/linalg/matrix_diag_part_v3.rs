//! `MatrixDiagPartV2`, `MatrixDiagPartV3`: a range of diagonals of matrices.

use super::band::{ALIGNMENTS, Band};
use super::band::{PUT, give_padding, of_same_version};
use super::matrices::{at_least, split};
use millstream_graph::op::spec::{AnyType, Spec, Words};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    let def = |name| {
        OpDef::new(name)
            .input("input", "T")
            .input("k", I32)
            .on_host()
            .input("padding_value", "T")
            .output("diagonal", "T")
            .attr("T", AnyType)
            .infer(infer)
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    };
    [
        def("MatrixDiagPartV2").doc(
            "Returns the diagonals `k` of each innermost matrix of `input` as rows, the highest first. `k` \
             is one number, or the lowest and the highest of a range. Shorter diagonals are padded at the \
             end with `padding_value`.",
        ),
        def("MatrixDiagPartV3")
            .doc(
                "Returns diagonals as MatrixDiagPartV2 does. `align` selects the side to which the \
                 diagonals above and below the main one are aligned.",
            )
            .attr("align", Words(ALIGNMENTS).or("RIGHT_LEFT")),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    at_least("input", cx.input(0), 2)?;
    cx.scalar(2)?;
    let Some(band) = Band::inferred(cx, 1)? else { return Ok(()) };
    if let Some([batch @ .., rows, cols]) = cx.input(0).dims() {
        let shape = PartialShape::new(band.dims(batch, *rows, *cols)?);
        cx.set(0, shape);
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, band, padding) = (cx.input(0), Band::of(cx, 1)?, cx.input(2));
    ensure!(padding.rank() == 0, "`padding_value` must be a scalar but has shape {}", padding.shape());
    let (batch, rows, cols) = split("input", input.shape())?;
    let shape = band.shape(batch, band.longest(rows, cols)?, |n| n)?;
    let mut out = Tensor::fill(Shape::new(shape), padding)?;
    if out.elements() > 0 {
        band.read(input, &mut out, batch, rows, cols)?;
    }
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, k, zeros) = (cx.grad(0), cx.input(1), cx.zeros_like_input(0));
    let dx = of_same_version(cx, PUT).inputs([zeros, dy, k]).output();
    cx.give(0, dx);
    give_padding(cx, 2, dy, dx);
    Ok(())
}

cases! {
    main: "MatrixDiagPartV3([[1 2 3] [4 5 6]], 0, 0) = [1 5]",
    below: "MatrixDiagPartV2([[[1 2] [3 4]] [[5 6] [7 8]]], -1, 0) = [[3] [7]]",
    a_band: "MatrixDiagPartV3([[1 2 3] [4 5 6] [7 8 9]], [-1 1], 0) = [[0 2 6] [1 5 9] [4 8 0]]",
    aligned_left: "MatrixDiagPartV2([[1 2 3] [4 5 6] [7 8 9]], [-1 1], 0) = [[2 6 0] [1 5 9] [4 8 0]]",
    aligned_right: "MatrixDiagPartV3([[1 2 3] [4 5 6] [7 8 9]], [-1 0], 0; align=\"RIGHT_RIGHT\") = [[1 5 9] [0 4 8]]",
    upper: "MatrixDiagPartV3([['a' 'b' 'c']], [1 2], '') = [['c'] ['b']]",
    infers: "MatrixDiagPartV3(f32[?,3,5], [0 1], f32[]) : f32[?,2,3]",
    infers_less: "MatrixDiagPartV3(f32[?,3,?], 1, f32[]) : f32[?,?]",
    inside: "MatrixDiagPartV3([[1 2] [3 4]], 2, 0) ! `k` names diagonal 2, which is outside of matrices of 2 by 2",
}
