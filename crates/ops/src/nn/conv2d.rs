//! `Conv2D`: the convolution of images with a filter.

use super::convolution::{IMAGES, cost_of_output, grad_output, image_attrs, infer_output, run_output};
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("Conv2D")
        .doc(
            "Convolves images `[batch, rows, columns, channels]` (NCHW: `[batch, channels, rows, columns]`) with a \
             `filter` `[rows, columns, in, out]`: slides the filter over the image by `strides`, and sums, for each \
             of `out` channels, the products with the cells that it covers.",
        )
        .input("input", "T")
        .input("filter", "T")
        .output("output", "T");
    image_attrs(def)
        .infer(|cx| infer_output(cx, IMAGES))
        .kernel(Kernel::pure(|cx| run_output(cx, IMAGES)).cost(Cost::Estimate(cost_of_output)))
        .gradient(Gradient::of(|cx| grad_output(cx, IMAGES)))
}

cases! {
    sums_under_windows: "Conv2D([[[[1.0] [2.0] [3.0]] [[4.0] [5.0] [6.0]]]], [[[[1.0]] [[10.0]]] [[[100.0]] [[1000.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[5421.0] [6532.0]]]]",
    strided: "Conv2D([[[[0.0 2.0] [-1.0 -1.0] [3.0 3.0] [3.0 4.0]] [[4.0 3.0] [2.0 0.0] [-4.0 3.0] [-4.0 3.0]] [[2.0 -1.0] [1.0 4.0] [4.0 3.0] [1.0 -4.0]]] [[[-4.0 -2.0] [4.0 2.0] [0.0 3.0] [-1.0 -1.0]] [[4.0 -1.0] [-4.0 -3.0] [-4.0 -4.0] [2.0 3.0]] [[3.0 -1.0] [-4.0 3.0] [3.0 3.0] [-4.0 1.0]]]], [[[[0.0 -1.0 -3.0] [-1.0 -3.0 -1.0]] [[0.0 -1.0 -3.0] [1.0 -3.0 -2.0]]] [[[-1.0 -2.0 -2.0] [1.0 3.0 -1.0]] [[-4.0 -1.0 0.0] [1.0 -1.0 -4.0]]]]; strides={1, 2, 1, 1}, padding=\"SAME\") = [[[[-12.0 -3.0 -8.0] [21.0 -11.0 -27.0] [27.0 -9.0 -36.0] [3.0 2.0 -8.0]] [[5.0 -12.0 -16.0] [-1.0 -26.0 -25.0] [-7.0 -2.0 -10.0] [4.0 11.0 1.0]]] [[[12.0 -4.0 3.0] [14.0 -12.0 7.0] [-9.0 -14.0 2.0] [2.0 9.0 -3.0]] [[4.0 -5.0 -2.0] [0.0 -17.0 -6.0] [-2.0 -11.0 -2.0] [-1.0 1.0 11.0]]]]",
    dilated: "Conv2D([[[[1.0] [2.0] [-2.0] [-4.0] [1.0]] [[-1.0] [-4.0] [1.0] [3.0] [-3.0]] [[4.0] [0.0] [-4.0] [-2.0] [-4.0]] [[3.0] [2.0] [-2.0] [1.0] [-3.0]]]], [[[[-4.0 -4.0]] [[-3.0 -3.0]]] [[[1.0 -1.0]] [[-2.0 -4.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\", dilations={1, 2, 3, 1}) = [[[[16.0 12.0] [-3.0 5.0]] [[-4.0 -12.0] [33.0 35.0]]]]",
    padded: "Conv2D([[[[-3.0] [-4.0] [-2.0]] [[3.0] [-4.0] [-4.0]]]], [[[[4.0]] [[-2.0]] [[-4.0]]] [[[1.0]] [[1.0]] [[-4.0]]]]; strides={1, 1, 2, 1}, padding=\"EXPLICIT\", explicit_paddings={0, 0, 1, 0, 0, 2, 0, 0}) = [[[[1.0] [-2.0]] [[19.0] [-12.0]]]]",
    channels_first: "Conv2D([[[[-3.0 -4.0 -2.0] [-1.0 -1.0 -3.0] [-3.0 2.0 -4.0]] [[0.0 3.0 -4.0] [4.0 3.0 -4.0] [0.0 -3.0 -3.0]]]], [[[[-4.0] [-3.0]] [[4.0] [0.0]]] [[[-3.0] [2.0]] [[4.0] [1.0]]]]; strides={1, 1, 1, 1}, padding=\"SAME\", data_format=\"NCHW\") = [[[[6.0 -8.0 21.0] [2.0 -48.0 30.0] [20.0 -15.0 25.0]]]]",
    one_cell: "Conv2D([[[[2.0 -2.0] [1.0 3.0]] [[3.0 1.0] [1.0 2.0]]] [[[-4.0 2.0] [0.0 2.0]] [[-2.0 2.0] [4.0 3.0]]]], [[[[-4.0 1.0] [4.0 3.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[-16.0 -4.0] [8.0 10.0]] [[-8.0 6.0] [4.0 7.0]]] [[[24.0 2.0] [8.0 6.0]] [[16.0 4.0] [-4.0 13.0]]]]",
    of_nothing: "Conv2D(f32[0,2,2,1] [], [[[[1.0]]]]; strides={1, 1, 1, 1}, padding=\"SAME\") = f32[0,2,2,1] []",
    infers: "Conv2D(f32[?,8,?,3], f32[3,3,3,16]; strides={1, 2, 2, 1}, padding=\"SAME\") : f32[?,4,?,16]",
    infers_valid: "Conv2D(f32[2,8,9,3], f32[3,?,?,16]; strides={1, 2, 2, 1}, padding=\"VALID\") : f32[2,3,?,16]",
    infers_dilated: "Conv2D(f32[2,3,8,9], f32[3,3,3,16]; strides={1, 1, 1, 1}, padding=\"VALID\", dilations={1, 1, 2, 3}, data_format=\"NCHW\") : f32[2,16,4,3]",
    depths_agree: "Conv2D(f32[1,5,5,3], f32[3,3,2,1]; strides={1, 1, 1, 1}, padding=\"VALID\") ! Depth of input (3) is not a multiple of input depth of filter (2)",
    not_in_groups: "Conv2D([[[[1.0 2.0]]]], [[[[1.0 2.0]]]]; strides={1, 1, 1, 1}, padding=\"VALID\") ! split `input` and `filter`",
    window_fits: "Conv2D(f32[1,2,5,3], f32[3,3,3,1]; strides={1, 1, 1, 1}, padding=\"VALID\") ! subtracting 3 from 2",
    window_of_nothing: "Conv2D(f32[1,2,5,3], f32[0,3,3,1]; strides={1, 1, 1, 1}, padding=\"VALID\") ! covers nothing",
    four_strides: "Conv2D(f32[1,5,5,3], f32[3,3,3,1]; strides={1, 1, 1}, padding=\"VALID\") ! requires the stride attribute to contain 4 values, but got: 3",
    strides_of_images: "Conv2D([[[[1.0]]]], [[[[1.0]]]]; strides={2, 1, 1, 1}, padding=\"VALID\") ! does not yet support strides in the batch and depth",
    positive_strides: "Conv2D(f32[1,5,5,3], f32[3,3,3,1]; strides={1, 0, 1, 1}, padding=\"VALID\") ! Stride must be > 0, but got 0",
    positive_dilations: "Conv2D(f32[1,5,5,3], f32[3,3,3,1]; strides={1, 1, 1, 1}, dilations={1, 0, 1, 1}, padding=\"VALID\") ! Dilation rate must be >= 1, but got 0",
    pads_of_images: "Conv2D(f32[1,5,5,3], f32[3,3,3,1]; strides={1, 1, 1, 1}, padding=\"EXPLICIT\", explicit_paddings={0, 0, 1, 1, 1, 1, 1, 0}) ! Nonzero explicit padding in the batch or depth",
    pads_need_their_padding: "Conv2D(f32[1,5,5,3], f32[3,3,3,1]; strides={1, 1, 1, 1}, padding=\"SAME\", explicit_paddings={0, 0, 1, 1, 1, 1, 0, 0}) ! which only the padding EXPLICIT uses",
    huge_strides: "Conv2D([[[[1.0]]]], [[[[2.0]]]]; strides={1, 9223372036854775807, 1, 1}, padding=\"VALID\") ! is too large",
}
