//! `MaxPool3D`: the largest cell of each window of volumes.

use super::max_pool::{grad, run};
use super::pool::{cost, infer_output, volume_attrs};
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("MaxPool3D")
        .doc(
            "Returns, for each window of `ksize` cells and each channel, the largest cell of the volumes `input`, \
             `[batch, planes, rows, columns, channels]`.",
        )
        .input("input", "T")
        .output("output", "T");
    volume_attrs(def)
        // TensorFlow has no kernel for f64.
        .attr("T", FloatType)
        .infer(|cx| infer_output(cx, 3))
        .kernel(Kernel::pure(|cx| run(cx, 3)).cost(Cost::Estimate(cost)))
        .gradient(Gradient::of(|cx| grad(cx, "MaxPool3DGrad")))
}

cases! {
    overlapping: "MaxPool3D([[[[[18.0 24.0] [11.0 8.0] [16.0 10.0]] [[25.0 19.0] [23.0 32.0] [20.0 14.0]] [[28.0 22.0] [26.0 15.0] [1.0 29.0]]] [[[27.0 6.0] [9.0 7.0] [17.0 5.0]] [[2.0 33.0] [31.0 13.0] [3.0 35.0]] [[34.0 21.0] [30.0 4.0] [12.0 0.0]]]]]; ksize={1, 2, 2, 2, 1}, strides={1, 1, 2, 1, 1}, padding=\"SAME\") = [[[[[31.0 33.0] [31.0 35.0] [20.0 35.0]] [[34.0 22.0] [30.0 29.0] [12.0 29.0]]] [[[31.0 33.0] [31.0 35.0] [17.0 35.0]] [[34.0 21.0] [30.0 4.0] [12.0 0.0]]]]]",
    of_pairs: "MaxPool3D([[[[[18.0 24.0] [11.0 8.0] [16.0 10.0]] [[25.0 19.0] [23.0 32.0] [20.0 14.0]] [[28.0 22.0] [26.0 15.0] [1.0 29.0]]] [[[27.0 6.0] [9.0 7.0] [17.0 5.0]] [[2.0 33.0] [31.0 13.0] [3.0 35.0]] [[34.0 21.0] [30.0 4.0] [12.0 0.0]]]]]; ksize={1, 2, 1, 2, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") = [[[[[27.0 24.0] [17.0 10.0]] [[31.0 33.0] [31.0 35.0]] [[34.0 22.0] [30.0 29.0]]]]]",
    channels_first: "MaxPool3D([[[[[18.0 11.0 16.0] [25.0 23.0 20.0] [28.0 26.0 1.0]] [[27.0 9.0 17.0] [2.0 31.0 3.0] [34.0 30.0 12.0]]] [[[24.0 8.0 10.0] [19.0 32.0 14.0] [22.0 15.0 29.0]] [[6.0 7.0 5.0] [33.0 13.0 35.0] [21.0 4.0 0.0]]]]]; ksize={1, 1, 2, 1, 2}, strides={1, 1, 1, 1, 1}, padding=\"VALID\", data_format=\"NCDHW\") = [[[[[27.0 17.0] [31.0 31.0] [34.0 30.0]]] [[[24.0 10.0] [33.0 35.0] [22.0 29.0]]]]]",
    window_fits: "MaxPool3D(f32[1,2,5,5,3]; ksize={1, 3, 3, 3, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! subtracting 3 from 2",
    not_of_channels: "MaxPool3D([[[[[1.0 2.0]]]]]; ksize={1, 1, 1, 1, 2}, strides={1, 1, 1, 1, 2}, padding=\"VALID\") ! Pooling is not yet supported on the depth dimension.",
    not_of_batches: "MaxPool3D([[[[[1.0]]]]]; ksize={2, 1, 1, 1, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! Pooling is not yet supported on the batch dimension.",
    five_sizes: "MaxPool3D(f32[1,2,2,2,1]; ksize={1, 2, 2, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! passed list of length 4 less than minimum 5",
    infers: "MaxPool3D(f32[?,7,8,9,3]; ksize={1, 3, 3, 3, 1}, strides={1, 2, 2, 1, 1}, padding=\"SAME\") : f32[?,4,4,9,3]",
    infers_first: "MaxPool3D(f32[?,3,7,8,9]; ksize={1, 1, 3, 3, 3}, strides={1, 1, 2, 2, 1}, padding=\"VALID\", data_format=\"NCDHW\") : f32[?,3,3,3,7]",
}
