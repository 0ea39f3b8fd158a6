//! `ResizeNearestNeighborGrad`: the gradient of `ResizeNearestNeighbor`.

use super::resizer::{Grid, attrs, grad_of_grad, infer_sized};
use crate::number::{Number, no_kernel};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef, StepEnv};
use millstream_tensor::DType::{F16, F32, F64, I8, I32, U8};
use millstream_tensor::{Element, Result, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("ResizeNearestNeighborGrad")
        .doc(
            "Adds each pixel of `grads`, the gradient of a ResizeNearestNeighbor of images of height and width \
             `size`, to the pixel of the image that it was.",
        )
        .input("grads", "T")
        .input("size", I32)
        .on_host()
        .output("output", "T")
        .attr("T", OneOf(&[U8, I8, I32, F16, F32, F64]));
    attrs(def)
        .infer(infer_sized)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(2.0)))
        .gradient(Gradient::of(|cx| grad_of_grad(cx, "ResizeNearestNeighbor")))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let grid = Grid::behind_size(cx)?;
    let grads = cx.take(0);
    let dtype = grads.dtype();
    let mut out = Tensor::zeros(dtype, grid.image_shape())?;
    with_element!(dtype, T in [U8 I8 I32 F16 F32 F64] => scatter::<T>(cx.env, &grid, grads.as_slice()?, fresh(&mut out)?),
        else => Err(no_kernel("ResizeNearestNeighborGrad", dtype)))?;
    cx.set(0, out);
    Ok(())
}

fn scatter<T: Element + Number>(env: &StepEnv, grid: &Grid, grads: &[T], out: &mut [T]) -> Result<()> {
    let (depth, width) = (grid.channels, grid.columns.from);
    grid.each_image(env, out, |n, image| {
        for y in 0..grid.rows.to {
            env.cancel.check()?;
            let line = grid.nearest(&grid.rows, y) * width;
            for (x, grads) in grid.result_row(grads, n, y).chunks_exact(depth.max(1)).enumerate() {
                let cells = &mut image[(line + grid.nearest(&grid.columns, x)) * depth..][..depth];
                cells.iter_mut().zip(grads).for_each(|(cell, g)| *cell = cell.add(*g));
            }
        }
        Ok(())
    })
}

cases! {
    of_a_larger: "ResizeNearestNeighborGrad([[[[1] [2] [4] [8] [16]]]], [1 2]) = [[[[7] [24]]]]",
    corners_aligned: "ResizeNearestNeighborGrad([[[[1.0] [2.0] [4.0] [8.0]]]], [1 2]; align_corners=true) = [[[[3.0] [12.0]]]]",
    half_pixels: "ResizeNearestNeighborGrad([[[[1.0 0.5] [2.0 0.0]]]], [1 5]; half_pixel_centers=true) = [[[[0.0 0.0] [1.0 0.5] [0.0 0.0] [2.0 0.0] [0.0 0.0]]]]",
    infers: "ResizeNearestNeighborGrad(f64[?,4,4,3], [2 2]) : f64[?,2,2,3]",
    positive: "ResizeNearestNeighborGrad([[[[1.0]]]], [0 1]) ! `size` must be positive but is [0 1]",
}
