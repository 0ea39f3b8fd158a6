//! `DepthwiseConv2dNativeBackpropInput`: the gradient of `DepthwiseConv2dNative` by its input.

use super::depthwise::{attrs, infer_sizes, node, run_to_input};
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("DepthwiseConv2dNativeBackpropInput")
        .doc("Computes the gradient of DepthwiseConv2dNative by its input, of shape `input_sizes`.")
        .input("input_sizes", I32)
        .on_host()
        .input("filter", "T")
        .input("out_backprop", "T")
        .output("output", "T");
    attrs(def)
        .infer(|cx| infer_sizes(cx, 0))
        .kernel(Kernel::pure(run_to_input).cost(Cost::PerElement(10.0)))
        .gradient(Gradient::of(grad))
}

// The gradient of dx is an input: df takes its windows, and ddy convolves it.
fn grad(cx: &mut GradCx) -> Result<()> {
    let g = cx.grad(0);
    if cx.wants(1) {
        let (shape, dy) = (cx.shape_of_input(1), cx.input(2));
        let df = node(cx, "DepthwiseConv2dNativeBackpropFilter", [g, shape, dy]);
        cx.give(1, df);
    }
    if cx.wants(2) {
        let filter = cx.input(1);
        let ddy = node(cx, "DepthwiseConv2dNative", [g, filter]);
        cx.give(2, ddy);
    }
    Ok(())
}

cases! {
    strided: "DepthwiseConv2dNativeBackpropInput([2 4 4 2], [[[[3.0] [-1.0]] [[-4.0] [-1.0]] [[0.0] [1.0]]] [[[-1.0] [-4.0]] [[0.0] [4.0]] [[2.0] [3.0]]]], [[[[-2.0 3.0] [-1.0 4.0]] [[2.0 2.0] [1.0 2.0]]] [[[1.0 3.0] [-3.0 1.0]] [[0.0 0.0] [-4.0 2.0]]]]; strides={1, 2, 2, 1}, padding=\"SAME\") = [[[[-6.0 -3.0] [8.0 -3.0] [-3.0 -1.0] [4.0 -4.0]] [[2.0 -12.0] [0.0 12.0] [-3.0 -7.0] [0.0 16.0]] [[6.0 -2.0] [-8.0 -2.0] [3.0 0.0] [-4.0 -2.0]] [[-2.0 -8.0] [0.0 8.0] [3.0 -2.0] [0.0 8.0]]] [[[3.0 -3.0] [-4.0 -3.0] [-9.0 2.0] [12.0 -1.0]] [[-1.0 -12.0] [0.0 12.0] [5.0 5.0] [0.0 4.0]] [[0.0 0.0] [0.0 0.0] [-12.0 -2.0] [16.0 -2.0]] [[0.0 0.0] [0.0 0.0] [4.0 -8.0] [0.0 8.0]]]]",
    multiplied: "DepthwiseConv2dNativeBackpropInput([1 3 3 2], [[[[4.0 -3.0] [1.0 1.0]] [[4.0 -1.0] [3.0 3.0]]] [[[0.0 3.0] [1.0 2.0]] [[-2.0 -4.0] [1.0 -1.0]]]], [[[[-4.0 1.0 3.0 -3.0] [4.0 0.0 -4.0 -2.0]] [[-4.0 3.0 2.0 -2.0] [1.0 -3.0 -4.0 -4.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[-19.0 0.0] [-1.0 -6.0] [16.0 -18.0]] [[-22.0 -3.0] [-2.0 -10.0] [-1.0 -26.0]] [[9.0 -2.0] [-13.0 -8.0] [10.0 0.0]]]]",
    dilated: "DepthwiseConv2dNativeBackpropInput([1 4 5 1], [[[[4.0]] [[-2.0]]] [[[-4.0]] [[1.0]]]], [[[[1.0] [-4.0]] [[-4.0] [4.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\", dilations={1, 2, 3, 1}) = [[[[4.0] [-16.0] [0.0] [-2.0] [8.0]] [[-16.0] [16.0] [0.0] [8.0] [-8.0]] [[-4.0] [16.0] [0.0] [1.0] [-4.0]] [[16.0] [-16.0] [0.0] [-4.0] [4.0]]]]",
    channels_first: "DepthwiseConv2dNativeBackpropInput([1 2 3 3], [[[[-4.0 -3.0] [-4.0 -3.0]] [[4.0 0.0] [-3.0 2.0]]] [[[4.0 1.0] [-2.0 0.0]] [[3.0 0.0] [-3.0 -2.0]]]], [[[[4.0 -2.0 1.0] [2.0 2.0 1.0] [2.0 -3.0 -1.0]] [[1.0 1.0 1.0] [0.0 4.0 4.0] [-2.0 -1.0 1.0]] [[-2.0 3.0 2.0] [2.0 3.0 3.0] [1.0 0.0 2.0]] [[2.0 3.0 -4.0] [-2.0 -4.0 3.0] [2.0 -4.0 0.0]]]]; strides={1, 1, 1, 1}, padding=\"SAME\", data_format=\"NCHW\") = [[[[-19.0 21.0 -15.0] [9.0 -7.0 -9.0] [6.0 41.0 3.0]] [[2.0 -11.0 1.0] [2.0 -14.0 -57.0] [-14.0 5.0 -23.0]]]]",
    infers: "DepthwiseConv2dNativeBackpropInput([2 5 5 3], f32[3,3,3,4], f32[..]; strides={1, 1, 1, 1}, padding=\"SAME\") : f32[2,5,5,3]",
    gradient_fits: "DepthwiseConv2dNativeBackpropInput([1 3 1 1], [[[[1.0]]]], [[[[1.0]] [[2.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") ! `out_backprop` has shape [1,2,1,1]",
}
