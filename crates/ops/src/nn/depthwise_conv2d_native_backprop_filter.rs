//! `DepthwiseConv2dNativeBackpropFilter`: the gradient of `DepthwiseConv2dNative` by its filter.

use super::depthwise::{attrs, infer_sizes, node, run_to_filter};
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("DepthwiseConv2dNativeBackpropFilter")
        .doc("Computes the gradient of DepthwiseConv2dNative by its filter, of shape `filter_sizes`.")
        .input("input", "T")
        .input("filter_sizes", I32)
        .on_host()
        .input("out_backprop", "T")
        .output("output", "T");
    attrs(def)
        .infer(|cx| infer_sizes(cx, 1))
        .kernel(Kernel::pure(run_to_filter).cost(Cost::PerElement(10.0)))
        .gradient(Gradient::of(grad))
}

// The gradient of df is a filter: dx scatters with it, and ddy convolves with it.
fn grad(cx: &mut GradCx) -> Result<()> {
    let g = cx.grad(0);
    if cx.wants(0) {
        let (shape, dy) = (cx.shape_of_input(0), cx.input(2));
        let dx = node(cx, "DepthwiseConv2dNativeBackpropInput", [shape, g, dy]);
        cx.give(0, dx);
    }
    if cx.wants(2) {
        let input = cx.input(0);
        let ddy = node(cx, "DepthwiseConv2dNative", [input, g]);
        cx.give(2, ddy);
    }
    Ok(())
}

cases! {
    strided: "DepthwiseConv2dNativeBackpropFilter([[[[0.0 2.0] [-1.0 -1.0] [3.0 3.0] [3.0 4.0]] [[4.0 3.0] [2.0 0.0] [-4.0 3.0] [-4.0 3.0]] [[2.0 -1.0] [1.0 4.0] [4.0 3.0] [1.0 -4.0]] [[-4.0 -2.0] [4.0 2.0] [0.0 3.0] [-1.0 -1.0]]] [[[4.0 -1.0] [-4.0 -3.0] [-4.0 -4.0] [2.0 3.0]] [[3.0 -1.0] [-4.0 3.0] [3.0 3.0] [-4.0 1.0]] [[0.0 -1.0] [-3.0 -1.0] [-3.0 -1.0] [0.0 -1.0]] [[-3.0 1.0] [-3.0 -2.0] [-1.0 -2.0] [-2.0 1.0]]]], [2 3 2 1], [[[[-2.0 3.0] [-1.0 4.0]] [[2.0 2.0] [1.0 2.0]]] [[[1.0 3.0] [-3.0 1.0]] [[0.0 0.0] [-4.0 2.0]]]]; strides={1, 2, 2, 1}, padding=\"SAME\") = [[[[33.0] [13.0]] [[-8.0] [5.0]] [[-2.0] [3.0]]] [[[-14.0] [19.0]] [[23.0] [26.0]] [[11.0] [24.0]]]]",
    multiplied: "DepthwiseConv2dNativeBackpropFilter([[[[-2.0 2.0] [4.0 -2.0] [0.0 -3.0]] [[2.0 -3.0] [1.0 -3.0] [2.0 4.0]] [[2.0 1.0] [3.0 1.0] [0.0 2.0]]]], [2 2 2 2], [[[[-4.0 1.0 3.0 -3.0] [4.0 0.0 -4.0 -2.0]] [[-4.0 3.0 2.0 -2.0] [1.0 -3.0 -4.0 -4.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[17.0 1.0] [20.0 16.0]] [[-18.0 1.0] [-16.0 2.0]]] [[[-9.0 -1.0] [1.0 9.0]] [[-8.0 10.0] [-31.0 -9.0]]]]",
    dilated: "DepthwiseConv2dNativeBackpropFilter([[[[-3.0] [-3.0] [1.0] [-1.0] [-2.0]] [[-4.0] [0.0] [4.0] [3.0] [-3.0]] [[0.0] [-1.0] [2.0] [3.0] [-3.0]] [[-4.0] [-2.0] [3.0] [-4.0] [-4.0]]]], [2 2 1 1], [[[[1.0] [-4.0]] [[-4.0] [4.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\", dilations={1, 2, 3, 1}) = [[[[25.0]] [[-17.0]]] [[[12.0]] [[15.0]]]]",
    channels_first: "DepthwiseConv2dNativeBackpropFilter([[[[0.0 -3.0 -4.0] [-2.0 -1.0 -1.0] [-3.0 -3.0 2.0]] [[1.0 0.0 3.0] [-4.0 4.0 3.0] [-4.0 0.0 -3.0]]]], [2 2 2 2], [[[[4.0 -2.0 1.0] [2.0 2.0 1.0] [2.0 -3.0 -1.0]] [[1.0 1.0 1.0] [0.0 4.0 4.0] [-2.0 -1.0 1.0]] [[-2.0 3.0 2.0] [2.0 3.0 3.0] [1.0 0.0 2.0]] [[2.0 3.0 -4.0] [-2.0 -4.0 3.0] [2.0 -4.0 0.0]]]]; strides={1, 1, 1, 1}, padding=\"SAME\", data_format=\"NCHW\") = [[[[-4.0 -4.0] [7.0 -17.0]] [[-20.0 -7.0] [26.0 1.0]]] [[[-17.0 -8.0] [9.0 -9.0]] [[-4.0 6.0] [-8.0 29.0]]]]",
    infers: "DepthwiseConv2dNativeBackpropFilter(f32[..], [3 3 3 4], f32[..]; strides={1, 1, 1, 1}, padding=\"SAME\") : f32[3,3,3,4]",
    gradient_fits: "DepthwiseConv2dNativeBackpropFilter([[[[1.0]]]], [1 1 1 2], [[[[1.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") ! `out_backprop` has shape [1,1,1,1]",
}
