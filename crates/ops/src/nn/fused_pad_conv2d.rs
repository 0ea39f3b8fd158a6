//! `FusedPadConv2D`: the convolution of images that are padded with their mirror images.

use super::convolution::{convolved, infer_convolved};
use crate::array::{mirrored, padded};
use millstream_graph::op::spec::{IntList, OneOf, Words};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F16, F32, F64, I32};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("FusedPadConv2D")
        .doc(
            "Returns the `Conv2D` of images `[batch, rows, columns, channels]` after `MirrorPad`. Graphs that were \
             optimized for inference have it.",
        )
        .input("input", "T")
        .input("paddings", I32)
        .on_host()
        .input("filter", "T")
        .output("output", "T")
        .attr("T", OneOf(&[F16, F32, F64]))
        .attr("mode", Words(&["REFLECT", "SYMMETRIC"]))
        .attr("strides", IntList)
        .attr("padding", Words(&["SAME", "VALID"]))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(100.0)))
        .gradient(Gradient::Missing("TensorFlow has none either: `MirrorPad` and `Conv2D` have one"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let images = padded(cx, &cx.with_rank(0, 4)?, 1)?;
    let shape = infer_convolved(cx, &images, 2)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    // TensorFlow's kernel pads the first image of a batch for all of them.
    let images = cx.take(0);
    let images = mirrored(cx, images, cx.input(1))?;
    let out = convolved(cx, images, cx.input(2))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    reflected: "FusedPadConv2D([[[[1.0] [2.0]] [[3.0] [4.0]]]], [[0 0] [1 0] [1 0] [0 0]], [[[[1.0]] [[10.0]]]]; mode=\"REFLECT\", strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[34.0] [43.0]] [[12.0] [21.0]] [[34.0] [43.0]]]]",
    symmetric: "FusedPadConv2D([[[[1.0] [2.0]]]], [[0 0] [0 0] [0 1] [0 0]], [[[[1.0]] [[10.0]]]]; mode=\"SYMMETRIC\", strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[21.0] [22.0]]]]",
    infers: "FusedPadConv2D(f32[?,5,5,2], [[0 0] [1 1] [2 0] [0 0]], f32[3,3,2,7]; mode=\"REFLECT\", strides={1, 2, 2, 1}, padding=\"VALID\") : f32[?,3,3,7]",
    of_images: "FusedPadConv2D(f32[5,2], i32[4,2], f32[3,3,2,7]; mode=\"REFLECT\", strides={1, 1, 1, 1}, padding=\"VALID\") ! must be rank 4 but is rank 2",
    four_strides: "FusedPadConv2D(f32[1,5,5,2], i32[4,2], f32[3,3,2,7]; mode=\"REFLECT\", strides={1, 1}, padding=\"VALID\") ! one entry for each of 4 axes",
    each_axis: "FusedPadConv2D(f32[1,5,5,2], i32[3,2], f32[3,3,2,7]; mode=\"REFLECT\", strides={1, 1, 1, 1}, padding=\"VALID\") ! must have shape [4,2]",
    not_too_wide: "FusedPadConv2D([[[[1.0] [2.0]]]], [[0 0] [0 0] [2 0] [0 0]], [[[[1.0]]]]; mode=\"REFLECT\", strides={1, 1, 1, 1}, padding=\"VALID\") ! must not be over 1",
}
