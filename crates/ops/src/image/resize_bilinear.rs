//! `ResizeBilinear`: resizes images, where a pixel is a mixture of the four around its place.

use super::resizer::{Grid, IMAGES, attrs, grad, infer_sized};
use crate::number::no_kernel;
use crate::shared::casting::{To, cast};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef, StepEnv};
use millstream_tensor::DType::{F32, I32};
use millstream_tensor::{Element, Result, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("ResizeBilinear")
        .doc(
            "Resizes images of shape `[batch, height, width, channels]` to `size`, a height and a width. Each \
             pixel is a mixture of the four around its place.",
        )
        .input("images", "T")
        .input("size", I32)
        .on_host()
        .output("resized_images", F32)
        .attr("T", OneOf(IMAGES));
    attrs(def)
        .infer(infer_sized)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::of(|cx| grad(cx, "ResizeBilinearGrad")))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let out = bilinear(cx, &Grid::of(cx)?)?;
    cx.set(0, out);
    Ok(())
}

/// The images in input 0, resized, as floats.
pub(super) fn bilinear(cx: &KernelCx, grid: &Grid) -> Result<Tensor> {
    let images = cx.input(0);
    if grid.is_identity() {
        return cast(images, F32);
    }
    let mut out = Tensor::anything(F32, grid.shape())?;
    with_element!(images.dtype(), T in [I8 U8 I16 U16 I32 I64 BF16 F16 F32 F64] => resize::<T>(cx.env, grid, images.as_slice()?, fresh(&mut out)?),
        else => Err(no_kernel("ResizeBilinear", images.dtype())))?;
    Ok(out)
}

fn resize<T: Element + To<f32> + Sync>(
    env: &StepEnv,
    grid: &Grid,
    images: &[T],
    out: &mut [f32],
) -> Result<()> {
    let (rows, columns, depth) = (grid.pairs(&grid.rows)?, grid.pairs(&grid.columns)?, grid.channels);
    grid.each_row(env, out, 6.0, |n, y, cells| {
        let (upper, lower, down) = rows[y];
        let (upper, lower) = (grid.row(images, n, upper), grid.row(images, n, lower));
        for (cells, (left, right, across)) in cells.chunks_exact_mut(depth).zip(&*columns) {
            let (left, right) = (left * depth, right * depth);
            for (c, cell) in cells.iter_mut().enumerate() {
                let (a, b): (f32, f32) = (upper[left + c].to(), upper[right + c].to());
                let (p, q): (f32, f32) = (lower[left + c].to(), lower[right + c].to());
                let (top, bottom) = (a + (b - a) * across, p + (q - p) * across);
                *cell = top + (bottom - top) * down;
            }
        }
        Ok(())
    })
}

cases! {
    larger: "ResizeBilinear([[[[1.0] [3.0]] [[5.0] [9.0]]]], [4 4]) = [[[[1.0] [2.0] [3.0] [3.0]] [[3.0] [4.5] [6.0] [6.0]] [[5.0] [7.0] [9.0] [9.0]] [[5.0] [7.0] [9.0] [9.0]]]]",
    corners_aligned: "ResizeBilinear(u8[1,2,2,1] [[[[1] [3]] [[5] [9]]]], [3 3]; align_corners=true) = [[[[1.0] [2.0] [3.0]] [[3.0] [4.5] [6.0]] [[5.0] [7.0] [9.0]]]]",
    half_pixels: "ResizeBilinear([[[[1.0 0.0] [3.0 8.0]]]], [1 4]; half_pixel_centers=true) = [[[[1.0 0.0] [1.5 2.0] [2.5 6.0] [3.0 8.0]]]]",
    smaller: "ResizeBilinear([[[[1.0] [3.0] [5.0]]]], [1 2]) = [[[[1.0] [4.0]]]]",
    not_resized: "ResizeBilinear([[[[1] [3]]]], [1 2]) = [[[[1.0] [3.0]]]]",
    infers: "ResizeBilinear(u8[?,?,7,3], [4 5]) : f32[?,4,5,3]",
    size_of_the_run: "ResizeBilinear(u8[2,6,7,?], i32[2]) : f32[2,?,?,?]",
    two_sizes: "ResizeBilinear(f32[1,2,2,1], i32[3]) ! Dimension must be 2 but is 3",
    positive: "ResizeBilinear([[[[1.0]]]], [0 1]) ! output dimensions must be positive",
    of_something: "ResizeBilinear(f32[1,0,1,1] [], [1 1]) ! input image must be of non-zero size",
    one_rule: "ResizeBilinear([[[[1.0]]]], [2 2]; align_corners=true, half_pixel_centers=true) ! If half_pixel_centers is True, align_corners must be False.",
}
