//! `MatrixDiagV2`, `MatrixDiagV3`: matrices with given diagonals.

use super::band::{ALIGNMENTS, Band};
use super::band::{TAKE, give_padding, of_same_version};
use super::matrices::at_least;
use millstream_graph::op::spec::{AnyType, Spec, Words};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::{PartialShape, Result, Shape, Tensor, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    let def = |name| {
        OpDef::new(name)
            .input("diagonal", "T")
            .input("k", I32)
            .on_host()
            .input("num_rows", I32)
            .on_host()
            .input("num_cols", I32)
            .on_host()
            .input("padding_value", "T")
            .output("output", "T")
            .attr("T", AnyType)
            .infer(infer)
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    };
    [
        def("MatrixDiagV2").doc(
            "Returns matrices whose diagonals `k` are the innermost rows of `diagonal`, the highest first, \
             and which hold `padding_value` elsewhere. `k` is one number, or the lowest and the highest of \
             a range. A size of -1 is computed from the diagonals.",
        ),
        def("MatrixDiagV3")
            .doc(
                "Returns matrices as MatrixDiagV2 does. `align` selects the side of `diagonal` to which the \
                 diagonals above and below the main one are aligned.",
            )
            .attr("align", Words(ALIGNMENTS).or("RIGHT_LEFT")),
    ]
}

/// Returns the rows and columns of the matrices, with sizes of -1 computed.
fn sizes(band: &Band, longest: usize, rows: i64, cols: i64) -> Result<(usize, usize)> {
    let longest = longest as i64;
    let least = (longest - band.high.min(0), longest + band.low.max(0));
    let (r, c) = match (rows, cols) {
        (-1, -1) => (least.0.max(least.1), least.0.max(least.1)),
        (-1, c) => (least.0, c),
        (r, -1) => (r, least.1),
        given => given,
    };
    let fits = least.0 <= r && least.1 <= c && (r == least.0 || c == least.1);
    ensure!(
        fits,
        "matrices of {r} by {c} do not have diagonals {}..={} of which the longest has {longest} elements",
        band.low,
        band.high
    );
    match (usize::try_from(r), usize::try_from(c)) {
        (Ok(r), Ok(c)) => Ok((r, c)),
        _ => Err(invalid!("matrices cannot be {r} by {c}")),
    }
}

/// Returns the outer dimensions and the length of the diagonals, or an error if their number is not that of
/// the band.
fn split<'a, D: PartialEq + Copy>(
    band: &Band,
    dims: &'a [D],
    size: impl Fn(usize) -> D,
    unknown: Option<D>,
) -> Result<(&'a [D], D)> {
    let too_few = || {
        invalid!(
            "`diagonal` needs an axis for the diagonals `k` and one for their elements, but has rank {}",
            dims.len()
        )
    };
    let (longest, rest) = dims.split_last().ok_or_else(too_few)?;
    if band.low == band.high {
        return Ok((rest, *longest));
    }
    let (count, batch) = rest.split_last().ok_or_else(too_few)?;
    let wanted = band.count()?;
    ensure!(
        *count == size(wanted) || Some(*count) == unknown,
        "`k` names {wanted} diagonals, but the last axis but one of `diagonal` has another size"
    );
    Ok((batch, *longest))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    at_least("diagonal", cx.input(0), 1)?;
    (2..5).try_for_each(|i| cx.scalar(i))?;
    let Some(band) = Band::inferred(cx, 1)? else { return Ok(()) };
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    let (batch, longest) = split(&band, dims, Some, Some(None))?;
    let (rows, cols) = match (longest, cx.int(2), cx.int(3)) {
        (Some(longest), Some(rows), Some(cols)) => {
            let (rows, cols) = sizes(&band, longest, rows, cols)?;
            (Some(rows), Some(cols))
        }
        _ => (None, None),
    };
    let shape = PartialShape::new(batch.iter().copied().chain([rows, cols]));
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (diagonal, band) = (cx.input(0), Band::of(cx, 1)?);
    for i in 2..5 {
        ensure!(
            cx.input(i).rank() == 0,
            "`{}` must be a scalar but has shape {}",
            cx.name_of(i),
            cx.input(i).shape()
        );
    }
    let (batch, longest) = split(&band, diagonal.shape().dims(), |n| n, None)?;
    let (rows, cols) = sizes(&band, longest, cx.int(2)?, cx.int(3)?)?;
    let mut out = Tensor::fill(Shape::new(batch.iter().copied().chain([rows, cols])), cx.input(4))?;
    if out.elements() > 0 {
        band.write(diagonal, &mut out, batch, rows, cols)?;
    }
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, k) = (cx.grad(0), cx.input(1));
    let zero = cx.scalar(cx.dtype(0), 0.0);
    let dx = of_same_version(cx, TAKE).inputs([dy, k, zero]).output();
    let dx = cx.reshaped_to_input(0, dx);
    cx.give(0, dx);
    give_padding(cx, 4, dy, dx);
    Ok(())
}

cases! {
    main: "MatrixDiagV3([1 2], 0, -1, -1, 9) = [[1 9] [9 2]]",
    above: "MatrixDiagV3([1 2], 1, -1, -1, 0) = [[0 1 0] [0 0 2] [0 0 0]]",
    of_each_row: "MatrixDiagV2([[1] [2]], -1, 2, 1, 0) = [[[0] [1]] [[0] [2]]]",
    a_band: "MatrixDiagV3([[0 2 6] [1 5 9] [4 8 0]], [-1 1], -1, -1, 0) = [[1 2 0] [4 5 6] [0 8 9]]",
    aligned_left: "MatrixDiagV2([[2 6 0] [1 5 9] [4 8 0]], [-1 1], -1, -1, 0) = [[1 2 0] [4 5 6] [0 8 9]]",
    aligned_otherwise: "MatrixDiagV3([[2 6 0] [1 5 9] [0 4 8]], [-1 1], 3, 3, 0; align=\"LEFT_RIGHT\") = [[1 2 0] [4 5 6] [0 8 9]]",
    strings: "MatrixDiagV2(['a' 'b'], 0, -1, 3, '-') = [['a' '-' '-'] ['-' 'b' '-']]",
    nothing: "MatrixDiagV3(f32[0,2] [], 0, -1, -1, 0.0) = f32[0,2,2] []",
    infers: "MatrixDiagV3(f32[?,3], 0, -1, 4, f32[]) : f32[?,3,4]",
    unknown_k: "MatrixDiagV3(f32[?,3], i32[], -1, 4, f32[]) : f32[..]",
    order_of_k: "MatrixDiagV3([[1] [2]], [1 0], -1, -1, 0) ! the lower diagonal must not be above",
    as_many_as_k: "MatrixDiagV3([[1] [2]], [0 2], -1, -1, 0) ! `k` names 3 diagonals",
    sizes_fit: "MatrixDiagV3([1 2], 0, 3, 3, 0) ! matrices of 3 by 3 do not have diagonals 0..=0",
}
