//! `Conv3DBackpropFilterV2`: the gradient of `Conv3D` by its filter.

use super::convolution::{
    VOLUMES, cost_of_to_filter, grad_to_filter, infer_sizes, run_to_filter, volume_attrs,
};
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};
use millstream_tensor::DType::I32;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("Conv3DBackpropFilterV2")
        .doc(
            "Computes the gradient of Conv3D by its filter, of shape `filter_sizes`: sums, for each cell of the \
             filter, the products of `out_backprop` with the cells of the volumes that it covers.",
        )
        .input("input", "T")
        .input("filter_sizes", I32)
        .on_host()
        .input("out_backprop", "T")
        .output("output", "T");
    volume_attrs(def)
        .infer(|cx| infer_sizes(cx, 1, VOLUMES))
        .kernel(Kernel::pure(|cx| run_to_filter(cx, VOLUMES)).cost(Cost::Estimate(cost_of_to_filter)))
        .gradient(Gradient::of(|cx| grad_to_filter(cx, VOLUMES)))
}

cases! {
    sums_products: "Conv3DBackpropFilterV2([[[[[4.0] [-1.0] [4.0]] [[4.0] [-4.0] [1.0]]] [[[-1.0] [1.0] [3.0]] [[2.0] [-4.0] [0.0]]]]], [2 1 2 1 2], [[[[[1.0 1.0] [0.0 3.0]] [[-2.0 -2.0] [2.0 2.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"VALID\") = [[[[[-12.0 -15.0]] [[9.0 21.0]]]] [[[[-13.0 -10.0]] [[9.0 18.0]]]]]",
    strided: "Conv3DBackpropFilterV2([[[[[1.0 4.0] [-3.0 4.0]] [[3.0 4.0] [-3.0 -4.0]] [[1.0 0.0] [-3.0 1.0]]] [[[0.0 3.0] [2.0 -4.0]] [[-4.0 -2.0] [0.0 1.0]] [[4.0 4.0] [3.0 1.0]]] [[[-3.0 -3.0] [-3.0 1.0]] [[1.0 3.0] [0.0 -1.0]] [[-4.0 -4.0] [-4.0 -4.0]]]] [[[[-2.0 -2.0] [3.0 -4.0]] [[1.0 -4.0] [-3.0 0.0]] [[-3.0 -2.0] [-2.0 0.0]]] [[[4.0 -4.0] [2.0 -4.0]] [[0.0 -3.0] [1.0 -3.0]] [[4.0 4.0] [3.0 -4.0]]] [[[-4.0 -3.0] [3.0 4.0]] [[3.0 0.0] [-4.0 -4.0]] [[0.0 -1.0] [-4.0 4.0]]]]], [2 2 2 2 2], [[[[[3.0 -2.0]] [[2.0 0.0]] [[4.0 0.0]]] [[[-1.0 4.0]] [[1.0 2.0]] [[-1.0 4.0]]]] [[[[0.0 -2.0]] [[3.0 3.0]] [[-2.0 -2.0]]] [[[-4.0 3.0]] [[1.0 -4.0]] [[-1.0 -1.0]]]]]; strides={1, 2, 1, 2, 1}, padding=\"SAME\") = [[[[[49.0 -39.0] [35.0 -42.0]] [[-37.0 -4.0] [-14.0 10.0]]] [[[-15.0 -12.0] [-2.0 2.0]] [[-13.0 2.0] [7.0 -32.0]]]] [[[[0.0 -16.0] [4.0 -15.0]] [[15.0 -11.0] [-7.0 15.0]]] [[[8.0 20.0] [14.0 22.0]] [[15.0 7.0] [-7.0 -8.0]]]]]",
    infers: "Conv3DBackpropFilterV2(f32[..], [3 3 3 3 4], f32[..]; strides={1, 1, 1, 1, 1}, padding=\"SAME\") : f32[3,3,3,3,4]",
    gradient_fits: "Conv3DBackpropFilterV2([[[[[1.0]]]]], [1 1 1 1 2], [[[[[1.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! give [1,1,1,1,2]",
}
