//! `ResizeArea`: resizes images, where a pixel is the mean of the area that it covers.

use super::resizer::{Grid, Side, infer_sized};
use crate::number::no_kernel;
use crate::shared::casting::To;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef, StepEnv};
use millstream_tensor::DType::{F16, F32, F64, I8, I16, I32, I64, U8, U16};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Element, Result, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("ResizeArea")
        .doc(
            "Resizes images of shape `[batch, height, width, channels]` to `size`, a height and a width. Each \
             pixel is the mean of the area that it covers.",
        )
        .input("images", "T")
        .input("size", I32)
        .on_host()
        .output("resized_images", F32)
        .attr("T", OneOf(&[I8, U8, I16, U16, I32, I64, F16, F32, F64]))
        .attr("align_corners", Bool.or(false))
        .infer(infer_sized)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(10.0)))
        .gradient(Gradient::Missing("TensorFlow has none either; resize with another method, or pool"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let grid = Grid::of(cx)?;
    let images = cx.take(0);
    let mut out = Tensor::anything(F32, grid.shape())?;
    with_element!(images.dtype(), T in [I8 U8 I16 U16 I32 I64 F16 F32 F64] => resize::<T>(cx.env, &grid, images.as_slice()?, fresh(&mut out)?),
        else => Err(no_kernel("ResizeArea", images.dtype())))?;
    cx.set(0, out);
    Ok(())
}

/// The part of an axis that a pixel covers: the pixels of the image from `start` to `end`, which may be
/// beyond the border.
struct Span {
    start: i64,
    end: i64,
    from: f32,
    to: f32,
}

impl Span {
    fn of(side: &Side, i: usize) -> Span {
        let (from, to) = (i as f32 * side.scale, (i + 1) as f32 * side.scale);
        Span { start: from.floor() as i64, end: to.ceil() as i64, from, to }
    }

    /// The part of pixel `i` that is covered.
    fn share(&self, side: &Side, i: i64) -> f32 {
        let (before, behind) = (i as f32, (i + 1) as f32);
        match (before < self.from, self.to < behind) {
            (true, true) => side.scale,
            (true, false) => behind - self.from,
            (false, true) => self.to - before,
            (false, false) => 1.0,
        }
    }

    /// The pixels of the image, and the part of each that is covered. Pixels beyond the border are the
    /// border's.
    fn pixels<'s>(&'s self, side: &'s Side) -> impl Iterator<Item = (usize, f32)> + 's {
        let last = side.from as i64 - 1;
        (self.start..self.end).map(move |i| (i.clamp(0, last) as usize, self.share(side, i)))
    }
}

fn resize<T: Element + To<f32> + Sync>(
    env: &StepEnv,
    grid: &Grid,
    images: &[T],
    out: &mut [f32],
) -> Result<()> {
    let (rows, columns, depth) = (&grid.rows, &grid.columns, grid.channels);
    let scale = 1.0 / (rows.scale * columns.scale);
    let area = f64::from(rows.scale.max(1.0)) * f64::from(columns.scale.max(1.0));
    grid.each_row(env, out, 4.0 * area, |n, y, cells| {
        let (span, mut pace) = (Span::of(rows, y), Pace::new());
        for (x, cells) in cells.chunks_exact_mut(depth).enumerate() {
            let across = Span::of(columns, x);
            for (c, cell) in cells.iter_mut().enumerate() {
                let mut sum = 0.0;
                for (y, by_row) in span.pixels(rows) {
                    pace.spend((across.end - across.start) as usize)?;
                    let line = grid.row(images, n, y);
                    let mut sum_of_row = 0.0;
                    for (x, by_column) in across.pixels(columns) {
                        let value: f32 = line[x * depth + c].to();
                        sum_of_row += value * by_column;
                    }
                    sum += sum_of_row * by_row;
                }
                *cell = sum * scale;
            }
        }
        Ok(())
    })
}

cases! {
    smaller: "ResizeArea([[[[1.0] [3.0]] [[5.0] [9.0]]]], [1 1]) = [[[[4.5]]]]",
    parts_of_pixels: "ResizeArea(u8[1,1,3,2] [[[[1 0] [3 3] [8 9]]]], [1 2]) = [[[[1.6666667 1.0] [6.3333335 7.0]]]]",
    larger: "ResizeArea([[[[1.0] [3.0]]]], [1 4]) = [[[[1.0] [1.0] [3.0] [3.0]]]]",
    infers: "ResizeArea(i16[?,?,7,3], [4 5]) : f32[?,4,5,3]",
    size_of_the_run: "ResizeArea(f64[2,6,7,?], i32[2]) : f32[2,?,?,?]",
    wants_images: "ResizeArea([[[1.0]]], [1 1]) ! `images` must have rank 4",
}
