//! `HSVToRGB`: colours as red, green and blue.

use super::colours::{Colour, infer_pixels, run_pixels};
use millstream_graph::op::spec::{FloatType, Spec};
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};
use millstream_tensor::DType::F32;

pub(crate) fn def() -> OpDef {
    OpDef::new("HSVToRGB")
        .doc(
            "Returns the red, green and blue of colours on the last axis, which are hue, saturation and value, all \
             from 0 to 1.",
        )
        .input("images", "T")
        .output("output", "T")
        .attr("T", FloatType.or(F32))
        .infer(infer_pixels)
        .kernel(Kernel::pure(|cx| run_pixels(cx, Colour::rgb, Colour::rgb)).cost(Cost::PerElement(6.0)))
        .gradient(Gradient::none("TensorFlow declares it not differentiable"))
}

cases! {
    colours: "HSVToRGB([[0.0 1.0 1.0] [0.5 0.5 0.8] [0.75 0.25 1.0] [0.3 0.0 0.4]]) ~ [[1.0 0.0 0.0] [0.4 0.8 0.8] [0.875 0.75 1.0] [0.4 0.4 0.4]]",
    of_doubles: "HSVToRGB(f64[3] [0.1 1.0 1.0]) ~ f64[3] [1.0 0.6 0.0]",
    infers: "HSVToRGB(f32[?,?]) : f32[?,3]",
    three_channels: "HSVToRGB([1.0 2.0]) ! Dimension must be 3 but is 2",
}
