//! `DepthwiseConv2dNative`: a convolution of each channel by itself.

use super::depthwise::{attrs, infer_output, node, run_output};
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, OpDef};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("DepthwiseConv2dNative")
        .doc(
            "Convolves each channel `c` of images with filters of its own: `filter` is `[rows, columns, channels, m]`, \
             and its last axis makes channels `c * m` to `c * m + m - 1` of the output.",
        )
        .input("input", "T")
        .input("filter", "T")
        .output("output", "T");
    attrs(def)
        .infer(infer_output)
        .kernel(Kernel::pure(run_output).cost(Cost::PerElement(10.0)))
        .gradient(Gradient::of(grad))
}

// y is linear in both.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    if cx.wants(0) {
        let (shape, filter) = (cx.shape_of_input(0), cx.input(1));
        let dx = node(cx, "DepthwiseConv2dNativeBackpropInput", [shape, filter, dy]);
        cx.give(0, dx);
    }
    if cx.wants(1) {
        let (input, shape) = (cx.input(0), cx.shape_of_input(1));
        let df = node(cx, "DepthwiseConv2dNativeBackpropFilter", [input, shape, dy]);
        cx.give(1, df);
    }
    Ok(())
}

cases! {
    strided: "DepthwiseConv2dNative([[[[0.0 2.0] [-1.0 -1.0] [3.0 3.0] [3.0 4.0]] [[4.0 3.0] [2.0 0.0] [-4.0 3.0] [-4.0 3.0]] [[2.0 -1.0] [1.0 4.0] [4.0 3.0] [1.0 -4.0]] [[-4.0 -2.0] [4.0 2.0] [0.0 3.0] [-1.0 -1.0]]] [[[4.0 -1.0] [-4.0 -3.0] [-4.0 -4.0] [2.0 3.0]] [[3.0 -1.0] [-4.0 3.0] [3.0 3.0] [-4.0 1.0]] [[0.0 -1.0] [-3.0 -1.0] [-3.0 -1.0] [0.0 -1.0]] [[-3.0 1.0] [-3.0 -2.0] [-1.0 -2.0] [-2.0 1.0]]]], [[[[3.0] [-1.0]] [[-4.0] [-1.0]] [[0.0] [1.0]]] [[[-1.0] [-4.0]] [[0.0] [4.0]] [[2.0] [3.0]]]]; strides={1, 2, 2, 1}, padding=\"SAME\") = [[[[-8.0 -1.0] [1.0 -7.0]] [[6.0 25.0] [8.0 -15.0]]] [[[31.0 25.0] [-23.0 -7.0]] [[13.0 -17.0] [-8.0 14.0]]]]",
    multiplied: "DepthwiseConv2dNative([[[[-2.0 2.0] [4.0 -2.0] [0.0 -3.0]] [[2.0 -3.0] [1.0 -3.0] [2.0 4.0]] [[2.0 1.0] [3.0 1.0] [0.0 2.0]]]], [[[[4.0 -3.0] [1.0 1.0]] [[4.0 -1.0] [3.0 3.0]]] [[[0.0 3.0] [1.0 2.0]] [[-2.0 -4.0] [1.0 -1.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[6.0 4.0 -10.0 -7.0] [12.0 -17.0 -10.0 -21.0]] [[6.0 -13.0 -10.0 -11.0] [12.0 4.0 12.0 9.0]]]]",
    dilated: "DepthwiseConv2dNative([[[[-3.0] [-3.0] [1.0] [-1.0] [-2.0]] [[-4.0] [0.0] [4.0] [3.0] [-3.0]] [[0.0] [-1.0] [2.0] [3.0] [-3.0]] [[-4.0] [-2.0] [3.0] [-4.0] [-4.0]]]], [[[[4.0]] [[-2.0]]] [[[-4.0]] [[1.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\", dilations={1, 2, 3, 1}) = [[[[-7.0] [-7.0]] [[-10.0] [10.0]]]]",
    channels_first: "DepthwiseConv2dNative([[[[0.0 -3.0 -4.0] [-2.0 -1.0 -1.0] [-3.0 -3.0 2.0]] [[1.0 0.0 3.0] [-4.0 4.0 3.0] [-4.0 0.0 -3.0]]]], [[[[-4.0 -3.0] [-4.0 -3.0]] [[4.0 0.0] [-3.0 2.0]]] [[[4.0 1.0] [-2.0 0.0]] [[3.0 0.0] [-3.0 -2.0]]]]; strides={1, 1, 1, 1}, padding=\"SAME\", data_format=\"NCHW\") = [[[[-23.0 -11.0 12.0] [-17.0 -6.0 12.0] [0.0 20.0 -8.0]] [[-2.0 8.0 11.0] [3.0 0.0 5.0] [9.0 9.0 -6.0]] [[-8.0 -26.0 -18.0] [12.0 -16.0 -6.0] [16.0 9.0 12.0]] [[-11.0 0.0 -9.0] [20.0 0.0 -9.0] [12.0 -6.0 9.0]]]]",
    infers: "DepthwiseConv2dNative(f32[?,8,?,3], f32[3,3,3,2]; strides={1, 2, 2, 1}, padding=\"SAME\") : f32[?,4,?,6]",
    depths_agree: "DepthwiseConv2dNative(f32[1,8,8,3], f32[3,3,2,2]; strides={1, 1, 1, 1}, padding=\"SAME\") ! Dimensions must be equal, but are 3 and 2",
    window_fits: "DepthwiseConv2dNative(f32[1,2,2,1], f32[3,3,1,2]; strides={1, 1, 1, 1}, padding=\"VALID\") ! subtracting 3 from 2",
}
