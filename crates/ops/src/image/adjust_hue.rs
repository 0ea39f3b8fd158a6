//! `AdjustHue`: turns the hue of images.

use super::colours::{Pixel, factor, image_checked, infer_adjusted, run_pixels};
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F16, F32};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("AdjustHue")
        .doc("Adds `delta`, a part of a whole turn, to the hue of the colours on the last axis of images.")
        .input("images", "T")
        .input("delta", F32)
        .output("output", "T")
        .attr("T", OneOf(&[F16, F32]).or(F32))
        .infer(infer_adjusted)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::Missing("TensorFlow has none either"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    image_checked(cx)?;
    let delta = factor(cx)? * 6.0;
    run_pixels(cx, |pixel| turned(pixel, delta), |pixel| pixel)
}

/// Adds `delta` sixths of a turn to the hue. The hue is counted in sixths: its whole part says how the
/// channels are ordered, the rest where the middle one is between the others.
fn turned([r, g, b]: Pixel<f32>, delta: f32) -> Pixel<f32> {
    let (sixth, most, middle, least) = match (r < g, b < r, b < g) {
        (true, true, _) => (1, g, r, b),
        (true, false, _) if g < b => (3, b, g, r),
        (true, false, _) => (2, g, b, r),
        (false, _, true) => (0, r, g, b),
        (false, _, false) if r < b => (4, b, r, g),
        (false, _, false) => (5, r, b, g),
    };
    let hue = match most == least {
        true => 0.0,
        false => {
            let share = (middle - least) / (most - least);
            sixth as f32 + if sixth % 2 == 0 { share } else { 1.0 - share }
        }
    };
    let hue = hue + delta;
    let hue = if (0.0..6.0).contains(&hue) { hue } else { hue.rem_euclid(6.0) };
    let sixth = hue as i32;
    let share = hue - sixth as f32;
    let share = if sixth % 2 == 0 { share } else { 1.0 - share };
    let middle = least + share * (most - least);
    match sixth {
        0 => [most, middle, least],
        1 => [middle, most, least],
        2 => [least, most, middle],
        3 => [least, middle, most],
        4 => [middle, least, most],
        _ => [most, least, middle],
    }
}

cases! {
    a_third: "AdjustHue([[[1.0 0.5 0.25] [0.1 0.1 0.1]]], 0.33333334) ~ [[[0.25 1.0 0.5] [0.1 0.1 0.1]]]",
    back: "AdjustHue(f16[1,1,3] [[[0.0 0.5 1.0]]], -0.25) ~ f16[1,1,3] [[[0.0 1.0 0.0]]]",
    infers: "AdjustHue(f32[?,?,3], f32[]) : f32[?,?,3]",
    delta_is_one: "AdjustHue([[[1.0 0.5 0.25]]], [0.1]) ! `delta` must be a scalar",
    three_channels: "AdjustHue([[[1.0 0.5]]], 0.1) ! input must have 3 channels but instead has 2 channels.",
}
