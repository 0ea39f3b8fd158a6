//! `FusedResizeAndPadConv2D`: the convolution of images that are resized, and padded with their mirror
//! images.

use super::resize_bilinear::bilinear;
use super::resizer::{Grid, sized};
use crate::array::{mirrored, padded};
use crate::nn::{convolved, infer_convolved};
use crate::shared::casting::cast;
use millstream_graph::op::spec::{Bool, IntList, OneOf, Spec, Words};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F16, F32, F64, I32};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("FusedResizeAndPadConv2D")
        .doc(
            "Returns the `Conv2D` of images `[batch, rows, columns, channels]` after `ResizeBilinear` and \
             `MirrorPad`. Graphs that were optimized for inference have it. Pixels of f64 are resized as f32.",
        )
        .input("input", "T")
        .input("size", I32)
        .on_host()
        .input("paddings", I32)
        .on_host()
        .input("filter", "T")
        .output("output", "T")
        .attr("T", OneOf(&[F16, F32, F64]))
        .attr("resize_align_corners", Bool.or(false))
        .attr("mode", Words(&["REFLECT", "SYMMETRIC"]))
        .attr("strides", IntList)
        .attr("padding", Words(&["SAME", "VALID"]))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(100.0)))
        .gradient(Gradient::Missing(
            "TensorFlow has none either: `ResizeBilinear`, `MirrorPad` and `Conv2D` have one",
        ))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let images = padded(cx, &sized(cx)?, 2)?;
    let shape = infer_convolved(cx, &images, 3)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let grid = Grid::aligned(cx, cx.attrs().bool("resize_align_corners")?)?;
    let images = cast(&bilinear(cx, &grid)?, cx.input(0).dtype())?;
    let images = mirrored(cx, images, cx.input(2))?;
    let out = convolved(cx, images, cx.input(3))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    resized: "FusedResizeAndPadConv2D([[[[1.0] [3.0]]]], [1 4], [[0 0] [0 0] [0 0] [0 0]], [[[[1.0]] [[10.0]]]]; mode=\"REFLECT\", strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[21.0] [32.0] [33.0]]]]",
    padded: "FusedResizeAndPadConv2D([[[[1.0] [3.0]]]], [1 3], [[0 0] [0 0] [0 1] [0 0]], [[[[2.0]]]]; resize_align_corners=true, mode=\"SYMMETRIC\", strides={1, 1, 1, 1}, padding=\"SAME\") = [[[[2.0] [4.0] [6.0] [6.0]]]]",
    infers: "FusedResizeAndPadConv2D(f32[?,9,9,2], [5 6], [[0 0] [1 1] [0 0] [0 0]], f32[3,3,2,7]; mode=\"REFLECT\", strides={1, 1, 1, 1}, padding=\"VALID\") : f32[?,5,4,7]",
    of_images: "FusedResizeAndPadConv2D(f32[5,2], i32[2], i32[4,2], f32[3,3,2,7]; mode=\"REFLECT\", strides={1, 1, 1, 1}, padding=\"VALID\") ! must be rank 4 but is rank 2",
    two_sizes: "FusedResizeAndPadConv2D(f32[1,5,5,2], i32[3], i32[4,2], f32[3,3,2,7]; mode=\"REFLECT\", strides={1, 1, 1, 1}, padding=\"VALID\") ! Dimension must be 2 but is 3",
}
