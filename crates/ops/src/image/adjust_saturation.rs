//! `AdjustSaturation`: scales the saturation of images.

use super::colours::{Colour, Pixel, factor, image_checked, infer_adjusted, run_pixels};
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F16, F32};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("AdjustSaturation")
        .doc("Multiplies the saturation of the colours on the last axis of images by `scale`, up to 1.")
        .input("images", "T")
        .input("scale", F32)
        .output("output", "T")
        .attr("T", OneOf(&[F16, F32]).or(F32))
        .infer(infer_adjusted)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::Missing("TensorFlow has none either"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    image_checked(cx)?;
    let scale = factor(cx)?;
    run_pixels(cx, |pixel| scaled(pixel, scale), |pixel| pixel)
}

fn scaled(pixel: Pixel<f32>, scale: f32) -> Pixel<f32> {
    let [hue, saturation, value] = pixel.hsv();
    [hue, (saturation * scale).clamp(0.0, 1.0), value].rgb()
}

cases! {
    less: "AdjustSaturation([[[1.0 0.5 0.25] [0.1 0.1 0.1]]], 0.5) ~ [[[1.0 0.75 0.625] [0.1 0.1 0.1]]]",
    at_most_whole: "AdjustSaturation([[[0.2 0.4 0.8]]], 4.0) ~ [[[0.0 0.26666668 0.8]]]",
    infers: "AdjustSaturation(f16[..], f32[]) : f16[..]",
    images_only: "AdjustSaturation([1.0 0.5 0.25], 0.1) ! `images` must have rank 3 or more",
}
