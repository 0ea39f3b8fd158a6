//! `Conv2DBackpropFilter`: the gradient of `Conv2D` by its filter.

use super::convolution::{
    IMAGES, cost_of_to_filter, grad_to_filter, image_attrs, infer_sizes, run_to_filter,
};
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};
use millstream_tensor::DType::I32;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("Conv2DBackpropFilter")
        .doc(
            "Computes the gradient of Conv2D by its filter, of shape `filter_sizes`: sums, for each cell of the \
             filter, the products of `out_backprop` with the cells of the images that it covers.",
        )
        .input("input", "T")
        .input("filter_sizes", I32)
        .on_host()
        .input("out_backprop", "T")
        .output("output", "T");
    image_attrs(def)
        .infer(|cx| infer_sizes(cx, 1, IMAGES))
        .kernel(Kernel::pure(|cx| run_to_filter(cx, IMAGES)).cost(Cost::Estimate(cost_of_to_filter)))
        .gradient(Gradient::of(|cx| grad_to_filter(cx, IMAGES)))
}

cases! {
    sums_products: "Conv2DBackpropFilter([[[[1.0] [2.0] [3.0]] [[4.0] [5.0] [6.0]]]], [2 2 1 1], [[[[1.0] [10.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[21.0]] [[32.0]]] [[[54.0]] [[65.0]]]]",
    strided: "Conv2DBackpropFilter([[[[0.0 2.0] [-1.0 -1.0] [3.0 3.0] [3.0 4.0]] [[4.0 3.0] [2.0 0.0] [-4.0 3.0] [-4.0 3.0]] [[2.0 -1.0] [1.0 4.0] [4.0 3.0] [1.0 -4.0]]] [[[-4.0 -2.0] [4.0 2.0] [0.0 3.0] [-1.0 -1.0]] [[4.0 -1.0] [-4.0 -3.0] [-4.0 -4.0] [2.0 3.0]] [[3.0 -1.0] [-4.0 3.0] [3.0 3.0] [-4.0 1.0]]]], [2 2 2 3], [[[[0.0 4.0 2.0] [3.0 -2.0 3.0] [-1.0 4.0 2.0] [2.0 1.0 2.0]] [[1.0 3.0 -3.0] [1.0 0.0 0.0] [-4.0 2.0 -2.0] [2.0 4.0 -2.0]]] [[[0.0 -3.0 2.0] [-3.0 1.0 -3.0] [2.0 4.0 2.0] [1.0 3.0 1.0]] [[0.0 2.0 4.0] [-3.0 1.0 1.0] [4.0 -1.0 3.0] [3.0 0.0 3.0]]]]; strides={1, 2, 1, 1}, padding=\"SAME\") = [[[[-12.0 47.0 -23.0] [-10.0 28.0 26.0]] [[-20.0 -10.0 -11.0] [12.0 11.0 22.0]]] [[[8.0 -34.0 12.0] [7.0 20.0 20.0]] [[8.0 16.0 -8.0] [24.0 23.0 27.0]]]]",
    dilated: "Conv2DBackpropFilter([[[[1.0] [2.0] [-2.0] [-4.0] [1.0]] [[-1.0] [-4.0] [1.0] [3.0] [-3.0]] [[4.0] [0.0] [-4.0] [-2.0] [-4.0]] [[3.0] [2.0] [-2.0] [1.0] [-3.0]]]], [2 2 1 2], [[[[0.0 4.0] [3.0 -3.0]] [[0.0 -1.0] [2.0 3.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\", dilations={1, 2, 3, 1}) = [[[[-2.0 -13.0]] [[-3.0 -31.0]]] [[[4.0 19.0]] [[-18.0 -6.0]]]]",
    padded: "Conv2DBackpropFilter([[[[-3.0] [-4.0] [-2.0]] [[3.0] [-4.0] [-4.0]]]], [2 3 1 1], [[[[-4.0] [4.0]] [[0.0] [1.0]]]]; strides={1, 1, 2, 1}, padding=\"EXPLICIT\", explicit_paddings={0, 0, 1, 0, 0, 2, 0, 0}) = [[[[-2.0]] [[0.0]] [[0.0]]] [[[0.0]] [[16.0]] [[8.0]]]]",
    channels_first: "Conv2DBackpropFilter([[[[-3.0 -4.0 -2.0] [-1.0 -1.0 -3.0] [-3.0 2.0 -4.0]] [[0.0 3.0 -4.0] [4.0 3.0 -4.0] [0.0 -3.0 -3.0]]]], [2 2 2 1], [[[[-2.0 0.0 3.0] [0.0 -3.0 -2.0] [4.0 1.0 -2.0]]]]; strides={1, 1, 1, 1}, padding=\"SAME\", data_format=\"NCHW\") = [[[[7.0] [-10.0]] [[21.0] [-9.0]]] [[[-5.0] [-5.0]] [[14.0] [3.0]]]]",
    one_cell: "Conv2DBackpropFilter([[[[2.0 -2.0] [1.0 3.0]] [[3.0 1.0] [1.0 2.0]]] [[[-4.0 2.0] [0.0 2.0]] [[-2.0 2.0] [4.0 3.0]]]], [1 1 2 2], [[[[3.0 2.0] [-2.0 1.0]] [[2.0 -3.0] [-1.0 0.0]]] [[[-4.0 -1.0] [1.0 2.0]] [[0.0 -4.0] [0.0 -3.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[25.0 -4.0] [-18.0 -19.0]]]]",
    infers: "Conv2DBackpropFilter(f32[..], [3 3 3 4], f32[..]; strides={1, 1, 1, 1}, padding=\"SAME\") : f32[3,3,3,4]",
    gradient_fits: "Conv2DBackpropFilter([[[[1.0]]]], [1 1 1 2], [[[[1.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") ! must have the same out_depth",
}
