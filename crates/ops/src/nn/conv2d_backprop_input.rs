//! `Conv2DBackpropInput`: the gradient of `Conv2D` by its input, which is also the transposed convolution.

use super::convolution::{IMAGES, cost_of_to_input, grad_to_input, image_attrs, infer_sizes, run_to_input};
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};
use millstream_tensor::DType::I32;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("Conv2DBackpropInput")
        .doc(
            "Computes the gradient of Conv2D by its input, of shape `input_sizes`: adds the filter, times each cell \
             of `out_backprop`, to the cells of the image that the filter covers there.",
        )
        .input("input_sizes", I32)
        .on_host()
        .input("filter", "T")
        .input("out_backprop", "T")
        .output("output", "T");
    image_attrs(def)
        .infer(|cx| infer_sizes(cx, 0, IMAGES))
        .kernel(Kernel::pure(|cx| run_to_input(cx, IMAGES)).cost(Cost::Estimate(cost_of_to_input)))
        .gradient(Gradient::of(|cx| grad_to_input(cx, IMAGES)))
}

cases! {
    scatters: "Conv2DBackpropInput([1 2 3 1], [[[[1.0]] [[10.0]]] [[[100.0]] [[1000.0]]]], [[[[1.0] [2.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[1.0] [12.0] [20.0]] [[100.0] [1200.0] [2000.0]]]]",
    strided: "Conv2DBackpropInput([2 3 4 2], [[[[0.0 -1.0 -3.0] [-1.0 -3.0 -1.0]] [[0.0 -1.0 -3.0] [1.0 -3.0 -2.0]]] [[[-1.0 -2.0 -2.0] [1.0 3.0 -1.0]] [[-4.0 -1.0 0.0] [1.0 -1.0 -4.0]]]], [[[[0.0 4.0 2.0] [3.0 -2.0 3.0] [-1.0 4.0 2.0] [2.0 1.0 2.0]] [[1.0 3.0 -3.0] [1.0 0.0 0.0] [-4.0 2.0 -2.0] [2.0 4.0 -2.0]]] [[[0.0 -3.0 2.0] [-3.0 1.0 -3.0] [2.0 4.0 2.0] [1.0 3.0 1.0]] [[0.0 2.0 4.0] [-3.0 1.0 1.0] [4.0 -1.0 3.0] [3.0 0.0 3.0]]]]; strides={1, 2, 1, 1}, padding=\"SAME\") = [[[[-10.0 -14.0] [-17.0 -16.0] [-17.0 -10.0] [-17.0 -24.0]] [[-12.0 10.0] [-9.0 -18.0] [-21.0 2.0] [-8.0 -10.0]] [[6.0 -7.0] [6.0 -3.0] [4.0 1.0] [6.0 -18.0]]] [[[-3.0 7.0] [5.0 8.0] [-2.0 -16.0] [-16.0 -25.0]] [[2.0 -11.0] [10.0 -2.0] [-3.0 20.0] [-21.0 -1.0]] [[-14.0 -10.0] [-18.0 -15.0] [-12.0 -12.0] [-17.0 -5.0]]]]",
    dilated: "Conv2DBackpropInput([1 4 5 1], [[[[-4.0 -4.0]] [[-3.0 -3.0]]] [[[1.0 -1.0]] [[-2.0 -4.0]]]], [[[[0.0 4.0] [3.0 -3.0]] [[0.0 -1.0] [2.0 3.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\", dilations={1, 2, 3, 1}) = [[[[-16.0] [0.0] [0.0] [-12.0] [0.0]] [[4.0] [-20.0] [0.0] [3.0] [-15.0]] [[-4.0] [6.0] [0.0] [-16.0] [6.0]] [[1.0] [-1.0] [0.0] [4.0] [-16.0]]]]",
    padded: "Conv2DBackpropInput([1 2 3 1], [[[[4.0]] [[-2.0]] [[-4.0]]] [[[1.0]] [[1.0]] [[-4.0]]]], [[[[-4.0] [4.0]] [[0.0] [1.0]]]]; strides={1, 1, 2, 1}, padding=\"EXPLICIT\", explicit_paddings={0, 0, 1, 0, 0, 2, 0, 0}) = [[[[-4.0] [-4.0] [24.0]] [[0.0] [0.0] [1.0]]]]",
    channels_first: "Conv2DBackpropInput([1 2 3 3], [[[[-4.0] [-3.0]] [[4.0] [0.0]]] [[[-3.0] [2.0]] [[4.0] [1.0]]]], [[[[-2.0 0.0 3.0] [0.0 -3.0 -2.0] [4.0 1.0 -2.0]]]]; strides={1, 1, 1, 1}, padding=\"SAME\", data_format=\"NCHW\") = [[[[8.0 -8.0 -12.0] [6.0 4.0 -13.0] [-16.0 21.0 6.0]] [[6.0 0.0 -9.0] [-4.0 7.0 12.0] [-12.0 -9.0 -1.0]]]]",
    one_cell: "Conv2DBackpropInput([2 2 2 2], [[[[-4.0 1.0] [4.0 3.0]]]], [[[[3.0 2.0] [-2.0 1.0]] [[2.0 -3.0] [-1.0 0.0]]] [[[-4.0 -1.0] [1.0 2.0]] [[0.0 -4.0] [0.0 -3.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[-10.0 18.0] [9.0 -5.0]] [[-11.0 -1.0] [4.0 -4.0]]] [[[15.0 -19.0] [-2.0 10.0]] [[-4.0 -12.0] [-3.0 -9.0]]]]",
    infers: "Conv2DBackpropInput([2 5 5 3], f32[3,3,3,4], f32[..]; strides={1, 1, 1, 1}, padding=\"SAME\") : f32[2,5,5,3]",
    keeps_unknowns: "Conv2DBackpropInput(i32[4], f32[3,3,3,4], f32[..]; strides={1, 1, 1, 1}, padding=\"SAME\") : f32[?,?,?,?]",
    gradient_fits: "Conv2DBackpropInput([1 3 1 1], [[[[1.0]]]], [[[[1.0]] [[2.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") ! actual = 2, computed = 3",
    four_sizes: "Conv2DBackpropInput([3 1 1], [[[[1.0]]]], [[[[1.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") ! must be rank 4 but is rank 3",
    sizes_of_nothing: "Conv2DBackpropInput([1 1 1 -2], [[[[1.0]]]], [[[[1.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") ! not a shape",
}
