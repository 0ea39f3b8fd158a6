//! `RGBToHSV`: colours as hue, saturation and value.

use super::colours::{Colour, infer_pixels, run_pixels};
use millstream_graph::Output;
use millstream_graph::op::spec::{FloatType, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("RGBToHSV")
        .doc(
            "Returns the hue, saturation and value of colours on the last axis, which are red, green and blue, all \
             from 0 to 1.",
        )
        .input("images", "T")
        .output("output", "T")
        .attr("T", FloatType.or(F32))
        .infer(infer_pixels)
        .kernel(Kernel::pure(|cx| run_pixels(cx, Colour::hsv, Colour::hsv)).cost(Cost::PerElement(6.0)))
        .gradient(Gradient::of(grad))
}

/// The three slices of the last axis.
fn channels<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> [Output<'g>; 3] {
    let node = cx.op("Unpack").input(x).attr("num", 3).attr("axis", -1).finish();
    [node.output(0), node.output(1), node.output(2)]
}

// With the largest channel v, the smallest m and d = v - m: the value is v, the saturation 1 - m/v, and the
// hue (n/d + c)/6, where n is the difference of the other two channels and c depends on which is the largest.
// The masks say which channel is the largest and the smallest. Of equal ones, red comes before green and blue
// as the largest, blue before green and red as the smallest.
fn grad<'g>(cx: &mut GradCx<'g, '_>) -> Result<()> {
    let (dy, x, dtype) = (cx.grad(0), cx.input(0), cx.dtype(0));
    let ([r, g, b], [dh, ds, dv]) = (channels(cx, x), channels(cx, dy));
    let is = |op: &'static str, a, b, or: &'static str, c, d| {
        let both = cx.call("LogicalAnd", [cx.call(op, [a, b]), cx.call(or, [c, d])]);
        cx.op("Cast").input(both).attr("DstT", dtype).output()
    };
    let largest = [
        is("GreaterEqual", r, b, "GreaterEqual", r, g),
        is("Greater", g, r, "GreaterEqual", g, b),
        is("Greater", b, r, "Greater", b, g),
    ];
    let smallest = [
        is("Less", r, b, "Less", r, g),
        is("LessEqual", g, r, "Less", g, b),
        is("LessEqual", b, r, "LessEqual", b, g),
    ];
    let picked = |mask: [Output<'g>; 3]| mask[0] * r + mask[1] * g + mask[2] * b;
    let (v, m) = (picked(largest), picked(smallest));
    let over = |a, b| cx.call("DivNoNan", [a, b]);
    let d = v - m;
    // Colours that are not positive have no saturation.
    let ds = ds * cx.op("Cast").input(cx.call("Greater", [v, cx.zeros_like(v)])).attr("DstT", dtype).output();
    let six = cx.scalar(dtype, 6.0);
    let n = largest[0] * (g - b) + largest[1] * (b - r) + largest[2] * (r - g);
    let by_n = over(dh, six * d);
    let by_d = over(-by_n * n, d);
    let (by_v, by_m) = (dv + by_d + over(ds * m, v * v), -by_d - over(ds, v));
    let turned = [largest[2] - largest[1], largest[0] - largest[2], largest[1] - largest[0]];
    let grads: Vec<Output> =
        (0..3).map(|i| by_n * turned[i] + by_v * largest[i] + by_m * smallest[i]).collect();
    let dx = cx.op("Pack").inputs(grads).attr("axis", -1).output();
    cx.give(0, dx);
    Ok(())
}

cases! {
    colours: "RGBToHSV([[1.0 0.0 0.0] [0.2 0.6 0.4] [0.1 0.3 0.9] [0.4 0.2 0.3]]) ~ [[0.0 1.0 1.0] [0.41666669 0.66666669 0.6] [0.625 0.8888889 0.9] [0.91666669 0.5 0.4]]",
    below_red: "RGBToHSV(f64[1,3] [[0.75 0.25 0.5]]) ~ f64[1,3] [[0.9166666666666666 0.6666666666666666 0.75]]",
    infers: "RGBToHSV(f16[2,?]) : f16[2,3]",
    three_channels: "RGBToHSV([1.0]) ! Dimension must be 3 but is 1",
    of_something: "RGBToHSV(1.0) ! `images` must have rank 1 or more",
}
