//! `ResizeNearestNeighbor`: resizes images, where a pixel is the one nearest to its place.

use super::resizer::{Grid, attrs, image_size, infer_sized, with_places};
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, KernelCx, OpDef, StepEnv};
use millstream_tensor::DType::{F16, F32, F64, I8, I16, I32, I64, U8, U16};
use millstream_tensor::{Element, Result, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("ResizeNearestNeighbor")
        .doc(
            "Resizes images of shape `[batch, height, width, channels]` to `size`, a height and a width. Each \
             pixel is the one nearest to its place.",
        )
        .input("images", "T")
        .input("size", I32)
        .on_host()
        .output("resized_images", "T")
        .attr("T", OneOf(&[I8, U8, I16, U16, I32, I64, F16, F32, F64]));
    attrs(def)
        .infer(infer_sized)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(2.0)))
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let grid = Grid::of(cx)?;
    let images = cx.take(0);
    let dtype = images.dtype();
    let mut out = Tensor::anything(dtype, grid.shape())?;
    with_element!(dtype, T in [I8 U8 I16 U16 I32 I64 F16 F32 F64] => resize::<T>(cx.env, &grid, images.as_slice()?, fresh(&mut out)?),
        else => Err(no_kernel("ResizeNearestNeighbor", dtype)))?;
    cx.set(0, out);
    Ok(())
}

fn resize<T: Element + Copy + Send + Sync>(
    env: &StepEnv,
    grid: &Grid,
    images: &[T],
    out: &mut [T],
) -> Result<()> {
    let depth = grid.channels;
    grid.each_row(env, out, 1.0, |n, y, cells| {
        let line = grid.row(images, n, grid.nearest(&grid.rows, y));
        for (x, cells) in cells.chunks_exact_mut(depth).enumerate() {
            let at = grid.nearest(&grid.columns, x) * depth;
            cells.copy_from_slice(&line[at..at + depth]);
        }
        Ok(())
    })
}

// Each pixel of the result was one of the image.
fn grad(cx: &mut GradCx) -> Result<()> {
    if cx.wants(0) {
        let (dy, size) = (cx.grad(0), image_size(cx, 0));
        let dx = with_places(cx, "ResizeNearestNeighborGrad", [dy, size]);
        cx.give(0, dx);
    }
    Ok(())
}

cases! {
    larger: "ResizeNearestNeighbor([[[[1] [3]] [[5] [9]]]], [3 4]) = [[[[1] [1] [3] [3]] [[1] [1] [3] [3]] [[5] [5] [9] [9]]]]",
    corners_aligned: "ResizeNearestNeighbor([[[[1 0] [3 7] [4 4]]]], [1 4]; align_corners=true) = [[[[1 0] [3 7] [3 7] [4 4]]]]",
    half_pixels: "ResizeNearestNeighbor(u8[1,1,5,1] [[[[1] [2] [3] [4] [5]]]], [1 2]; half_pixel_centers=true) = u8[1,1,2,1] [[[[2] [4]]]]",
    infers: "ResizeNearestNeighbor(i64[?,?,7,3], [4 5]) : i64[?,4,5,3]",
    size_of_the_run: "ResizeNearestNeighbor(f16[2,6,7,?], i32[2]) : f16[2,?,?,?]",
    has_channels: "ResizeNearestNeighbor(f32[1,1,1,0] [], [1 1]) ! image must have at least one channel",
}
