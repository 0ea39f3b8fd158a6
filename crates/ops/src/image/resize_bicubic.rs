//! `ResizeBicubic`: resizes images, where a pixel is on cubic curves through the sixteen around its place.

use super::resizer::{Grid, Taps, attrs, grad, infer_sized};
use crate::number::no_kernel;
use crate::shared::casting::To;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef, StepEnv};
use millstream_tensor::DType::{F16, F32, F64, I8, I16, I32, I64, U8, U16};
use millstream_tensor::{Element, Result, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("ResizeBicubic")
        .doc(
            "Resizes images of shape `[batch, height, width, channels]` to `size`, a height and a width. Each \
             pixel is on cubic curves through the sixteen around its place.",
        )
        .input("images", "T")
        .input("size", I32)
        .on_host()
        .output("resized_images", F32)
        .attr("T", OneOf(&[I8, U8, I16, U16, I32, I64, F16, F32, F64]));
    attrs(def)
        .infer(infer_sized)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(40.0)))
        .gradient(Gradient::of(|cx| grad(cx, "ResizeBicubicGrad")))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let grid = Grid::of(cx)?;
    let images = cx.take(0);
    let mut out = Tensor::anything(F32, grid.shape())?;
    with_element!(images.dtype(), T in [I8 U8 I16 U16 I32 I64 F16 F32 F64] => resize::<T>(cx.env, &grid, images.as_slice()?, fresh(&mut out)?),
        else => Err(no_kernel("ResizeBicubic", images.dtype())))?;
    cx.set(0, out);
    Ok(())
}

// The curves through columns first, then the one through their values.
fn resize<T: Element + To<f32> + Sync>(
    env: &StepEnv,
    grid: &Grid,
    images: &[T],
    out: &mut [f32],
) -> Result<()> {
    let (rows, columns, depth) = (grid.cubic(&grid.rows)?, grid.cubic(&grid.columns)?, grid.channels);
    grid.each_row(env, out, 40.0, |n, y, cells| {
        let Taps { at, weight } = rows[y];
        let lines = at.map(|y| grid.row(images, n, y));
        for (cells, column) in cells.chunks_exact_mut(depth).zip(&*columns) {
            for (c, cell) in cells.iter_mut().enumerate() {
                let values = column.at.map(|x| mixed(weight, lines.map(|line| line[x * depth + c].to())));
                *cell = mixed(column.weight, values);
            }
        }
        Ok(())
    })
}

fn mixed([a, b, c, d]: [f32; 4], [p, q, r, s]: [f32; 4]) -> f32 {
    p * a + q * b + r * c + s * d
}

cases! {
    larger: "ResizeBicubic([[[[1.0] [3.0]] [[5.0] [9.0]]]], [2 4]) = [[[[1.0] [2.0] [3.0] [3.1875]] [[5.0] [7.0] [9.0] [9.375]]]]",
    half_pixels: "ResizeBicubic(u8[1,1,4,1] [[[[1] [3] [4] [8]]]], [1 2]; half_pixel_centers=true) = [[[[1.8823531] [6.1764708]]]]",
    corners_aligned: "ResizeBicubic([[[[1.0] [3.0] [4.0]]]], [1 5]; align_corners=true) = [[[[1.0] [1.90625] [3.0] [3.6875] [4.0]]]]",
    infers: "ResizeBicubic(f64[?,?,7,3], [4 5]) : f32[?,4,5,3]",
    size_of_the_run: "ResizeBicubic(f64[2,6,7,?], i32[2]) : f32[2,?,?,?]",
    size_is_a_vector: "ResizeBicubic([[[[1.0]]]], 2) ! `size` must have rank 1",
}
