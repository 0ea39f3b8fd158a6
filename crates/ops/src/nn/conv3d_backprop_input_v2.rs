//! `Conv3DBackpropInputV2`: the gradient of `Conv3D` by its input, which is also the transposed convolution.

use super::convolution::{VOLUMES, cost_of_to_input, grad_to_input, infer_sizes, run_to_input, volume_attrs};
use millstream_graph::op::spec::{IndexType, Spec};
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};
use millstream_tensor::DType::I32;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("Conv3DBackpropInputV2")
        .doc(
            "Computes the gradient of Conv3D by its input, of shape `input_sizes`: adds the filter, times each cell \
             of `out_backprop`, to the cells of the volume that the filter covers there.",
        )
        .input("input_sizes", "Tshape")
        .on_host()
        .input("filter", "T")
        .input("out_backprop", "T")
        .output("output", "T");
    volume_attrs(def)
        .attr("Tshape", IndexType.or(I32))
        .infer(|cx| infer_sizes(cx, 0, VOLUMES))
        .kernel(Kernel::pure(|cx| run_to_input(cx, VOLUMES)).cost(Cost::Estimate(cost_of_to_input)))
        .gradient(Gradient::of(|cx| grad_to_input(cx, VOLUMES)))
}

cases! {
    scatters: "Conv3DBackpropInputV2([1 2 2 3 1], [[[[[3.0 4.0]] [[-3.0 2.0]]]] [[[[-2.0 -2.0]] [[-3.0 -1.0]]]]], [[[[[1.0 1.0] [0.0 3.0]] [[-2.0 -2.0] [2.0 2.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"VALID\") = [[[[[7.0] [11.0] [6.0]] [[-14.0] [16.0] [-2.0]]] [[[-4.0] [-10.0] [-3.0]] [[8.0] [0.0] [-8.0]]]]]",
    strided: "Conv3DBackpropInputV2([2 3 3 2 2], [[[[[-2.0 3.0] [-2.0 -3.0]] [[-1.0 -2.0] [0.0 -3.0]]] [[[-2.0 -2.0] [3.0 -1.0]] [[0.0 -3.0] [2.0 3.0]]]] [[[[-3.0 -4.0] [-4.0 1.0]] [[4.0 0.0] [4.0 4.0]]] [[[-1.0 0.0] [-2.0 1.0]] [[0.0 3.0] [-3.0 -4.0]]]]], [[[[[3.0 -2.0]] [[2.0 0.0]] [[4.0 0.0]]] [[[-1.0 4.0]] [[1.0 2.0]] [[-1.0 4.0]]]] [[[[0.0 -2.0]] [[3.0 3.0]] [[-2.0 -2.0]]] [[[-4.0 3.0]] [[1.0 -4.0]] [[-1.0 -1.0]]]]]; strides={1, 2, 1, 2, 1}, padding=\"SAME\") = [[[[[-12.0 0.0] [1.0 6.0]] [[-6.0 7.0] [4.0 0.0]] [[-12.0 -2.0] [-4.0 4.0]]] [[[-1.0 -14.0] [12.0 4.0]] [[-9.0 -16.0] [2.0 7.0]] [[-14.0 -20.0] [16.0 10.0]]] [[[14.0 -10.0] [-7.0 -12.0]] [[-2.0 -15.0] [-17.0 4.0]] [[8.0 -9.0] [-13.0 -4.0]]]] [[[[-6.0 6.0] [4.0 6.0]] [[7.0 -13.0] [-3.0 -15.0]] [[-14.0 16.0] [-3.0 21.0]]] [[[8.0 -2.0] [0.0 -8.0]] [[-21.0 -11.0] [6.0 32.0]] [[11.0 3.0] [1.0 -37.0]]] [[[17.0 -1.0] [-2.0 -9.0]] [[-12.0 -5.0] [-2.0 13.0]] [[5.0 12.0] [15.0 -7.0]]]]]",
    long_sizes: "Conv3DBackpropInputV2(i64 [1 1 1 2 1], [[[[[-1.0]]]]], [[[[[2.0] [3.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"SAME\") = [[[[[-2.0] [-3.0]]]]]",
    infers: "Conv3DBackpropInputV2([2 5 5 5 3], f32[3,3,3,3,4], f32[..]; strides={1, 1, 1, 1, 1}, padding=\"SAME\") : f32[2,5,5,5,3]",
    gradient_fits: "Conv3DBackpropInputV2([1 1 1 3 1], [[[[[1.0]]]]], [[[[[1.0] [2.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! give [1,1,1,3,1]",
    five_sizes: "Conv3DBackpropInputV2([3 1 1 1], [[[[[1.0]]]]], [[[[[1.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! must be rank 5 but is rank 4",
}
