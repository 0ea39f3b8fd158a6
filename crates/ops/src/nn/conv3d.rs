//! `Conv3D`: the convolution of volumes with a filter.

use super::convolution::{VOLUMES, cost_of_output, grad_output, infer_output, run_output, volume_attrs};
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("Conv3D")
        .doc(
            "Convolves volumes `[batch, planes, rows, columns, channels]` (NCDHW: `[batch, channels, planes, rows, \
             columns]`) with a `filter` `[planes, rows, columns, in, out]`: slides the filter over the volume by \
             `strides`, and sums, for each of `out` channels, the products with the cells that it covers.",
        )
        .input("input", "T")
        .input("filter", "T")
        .output("output", "T");
    volume_attrs(def)
        .infer(|cx| infer_output(cx, VOLUMES))
        .kernel(Kernel::pure(|cx| run_output(cx, VOLUMES)).cost(Cost::Estimate(cost_of_output)))
        .gradient(Gradient::of(|cx| grad_output(cx, VOLUMES)))
}

cases! {
    sums_under_windows: "Conv3D([[[[[4.0] [-1.0] [4.0]] [[4.0] [-4.0] [1.0]]] [[[-1.0] [1.0] [3.0]] [[2.0] [-4.0] [0.0]]]]], [[[[[3.0 4.0]] [[-3.0 2.0]]]] [[[[-2.0 -2.0]] [[-3.0 -1.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"VALID\") = [[[[[14.0 15.0] [-26.0 -1.0]] [[32.0 8.0] [-7.0 -6.0]]]]]",
    strided: "Conv3D([[[[[1.0 4.0] [-3.0 4.0]] [[3.0 4.0] [-3.0 -4.0]] [[1.0 0.0] [-3.0 1.0]]] [[[0.0 3.0] [2.0 -4.0]] [[-4.0 -2.0] [0.0 1.0]] [[4.0 4.0] [3.0 1.0]]] [[[-3.0 -3.0] [-3.0 1.0]] [[1.0 3.0] [0.0 -1.0]] [[-4.0 -4.0] [-4.0 -4.0]]]] [[[[-2.0 -2.0] [3.0 -4.0]] [[1.0 -4.0] [-3.0 0.0]] [[-3.0 -2.0] [-2.0 0.0]]] [[[4.0 -4.0] [2.0 -4.0]] [[0.0 -3.0] [1.0 -3.0]] [[4.0 4.0] [3.0 -4.0]]] [[[-4.0 -3.0] [3.0 4.0]] [[3.0 0.0] [-4.0 -4.0]] [[0.0 -1.0] [-4.0 4.0]]]]], [[[[[-2.0 3.0] [-2.0 -3.0]] [[-1.0 -2.0] [0.0 -3.0]]] [[[-2.0 -2.0] [3.0 -1.0]] [[0.0 -3.0] [2.0 3.0]]]] [[[[-3.0 -4.0] [-4.0 1.0]] [[4.0 0.0] [4.0 4.0]]] [[[-1.0 0.0] [-2.0 1.0]] [[0.0 3.0] [-3.0 -4.0]]]]]; strides={1, 2, 1, 2, 1}, padding=\"SAME\") = [[[[[-24.0 -47.0]] [[-2.0 52.0]] [[-11.0 -2.0]]] [[[20.0 -5.0]] [[-20.0 9.0]] [[20.0 20.0]]]] [[[[2.0 -7.0]] [[13.0 49.0]] [[-20.0 -27.0]]] [[[-3.0 -27.0]] [[3.0 54.0]] [[6.0 -1.0]]]]]",
    dilated: "Conv3D([[[[[3.0] [0.0] [4.0] [4.0]] [[0.0] [-3.0] [0.0] [-4.0]]] [[[1.0] [2.0] [3.0] [-4.0]] [[3.0] [4.0] [-3.0] [1.0]]] [[[-1.0] [2.0] [-3.0] [-1.0]] [[3.0] [0.0] [-4.0] [4.0]]]]], [[[[[0.0]] [[3.0]]]] [[[[4.0]] [[1.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"VALID\", dilations={1, 2, 1, 2, 1}) = [[[[[5.0] [19.0]] [[8.0] [-8.0]]]]]",
    channels_first: "Conv3D([[[[[2.0 -1.0] [-3.0 -2.0]] [[0.0 -4.0] [3.0 -2.0]]] [[[3.0 1.0] [4.0 4.0]] [[1.0 4.0] [-3.0 1.0]]]]], [[[[[-2.0] [3.0]] [[2.0] [3.0]]] [[[-3.0] [1.0]] [[3.0] [1.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"VALID\", data_format=\"NCDHW\") = [[[[[17.0]] [[-10.0]]]]]",
    of_nothing: "Conv3D(f32[0,2,2,2,1] [], [[[[[1.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"SAME\") = f32[0,2,2,2,1] []",
    infers: "Conv3D(f32[?,9,8,?,3], f32[3,3,3,3,16]; strides={1, 2, 2, 1, 1}, padding=\"SAME\") : f32[?,5,4,?,16]",
    infers_valid: "Conv3D(f32[2,7,8,9,3], f32[2,3,?,?,16]; strides={1, 1, 2, 2, 1}, padding=\"VALID\") : f32[2,6,3,?,16]",
    depths_agree: "Conv3D(f32[1,5,5,5,3], f32[3,3,3,2,1]; strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! Depth of input (3) is not a multiple of input depth of filter (2)",
    five_strides: "Conv3D(f32[1,5,5,5,3], f32[3,3,3,3,1]; strides={1, 1, 1, 1}, padding=\"VALID\") ! passed list of length 4 less than minimum 5",
    volumes: "Conv3D([[[[1.0]]]], [[[[[1.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! must be rank 5 but is rank 4",
    window_fits: "Conv3D(f32[1,2,5,5,3], f32[3,3,3,3,1]; strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! subtracting 3 from 2",
    strides_of_volumes: "Conv3D([[[[[1.0]]]]], [[[[[1.0]]]]]; strides={2, 1, 1, 1, 1}, padding=\"VALID\") ! does not yet support strides in the batch and depth",
}
