//! `AvgPool3D`: the mean of each window of volumes.

use super::avg_pool::{grad, run};
use super::pool::{cost, infer_output, volume_attrs};
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("AvgPool3D")
        .doc(
            "Returns, for each window of `ksize` cells and each channel, the mean of the cells of the volumes \
             `input`, `[batch, planes, rows, columns, channels]`. Cells beyond the volume do not count.",
        )
        .input("input", "T")
        .output("output", "T");
    volume_attrs(def)
        .attr("T", FloatType)
        .infer(|cx| infer_output(cx, 3))
        .kernel(Kernel::pure(|cx| run(cx, 3)).cost(Cost::Estimate(cost)))
        .gradient(Gradient::of(|cx| grad(cx, "AvgPool3DGrad")))
}

cases! {
    overlapping: "AvgPool3D([[[[[18.0 24.0] [11.0 8.0] [16.0 10.0]] [[25.0 19.0] [23.0 32.0] [20.0 14.0]] [[28.0 22.0] [26.0 15.0] [1.0 29.0]]] [[[27.0 6.0] [9.0 7.0] [17.0 5.0]] [[2.0 33.0] [31.0 13.0] [3.0 35.0]] [[34.0 21.0] [30.0 4.0] [12.0 0.0]]]]]; ksize={1, 2, 2, 2, 1}, strides={1, 1, 2, 1, 1}, padding=\"SAME\") ~ [[[[[18.25 17.75] [16.25 15.5] [14.0 16.0]] [[29.5 15.5] [17.25 12.0] [6.5 14.5]]] [[[17.25 14.75] [15.0 15.0] [10.0 20.0]] [[32.0 12.5] [21.0 2.0] [12.0 0.0]]]]]",
    of_pairs: "AvgPool3D([[[[[18.0 24.0] [11.0 8.0] [16.0 10.0]] [[25.0 19.0] [23.0 32.0] [20.0 14.0]] [[28.0 22.0] [26.0 15.0] [1.0 29.0]]] [[[27.0 6.0] [9.0 7.0] [17.0 5.0]] [[2.0 33.0] [31.0 13.0] [3.0 35.0]] [[34.0 21.0] [30.0 4.0] [12.0 0.0]]]]]; ksize={1, 2, 1, 2, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") = [[[[[16.25 11.25] [13.25 7.5]] [[20.25 24.25] [19.25 23.5]] [[29.5 15.5] [17.25 12.0]]]]]",
    channels_first: "AvgPool3D([[[[[18.0 11.0 16.0] [25.0 23.0 20.0] [28.0 26.0 1.0]] [[27.0 9.0 17.0] [2.0 31.0 3.0] [34.0 30.0 12.0]]] [[[24.0 8.0 10.0] [19.0 32.0 14.0] [22.0 15.0 29.0]] [[6.0 7.0 5.0] [33.0 13.0 35.0] [21.0 4.0 0.0]]]]]; ksize={1, 1, 2, 1, 2}, strides={1, 1, 1, 1, 1}, padding=\"VALID\", data_format=\"NCDHW\") = [[[[[16.25 13.25] [20.25 19.25] [29.5 17.25]]] [[[11.25 7.5] [24.25 23.5] [15.5 12.0]]]]]",
    window_fits: "AvgPool3D(f32[1,2,5,5,3]; ksize={1, 3, 3, 3, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! subtracting 3 from 2",
    not_of_channels: "AvgPool3D([[[[[1.0 2.0]]]]]; ksize={1, 1, 1, 1, 2}, strides={1, 1, 1, 1, 2}, padding=\"VALID\") ! Pooling is not yet supported on the depth dimension.",
    not_of_batches: "AvgPool3D([[[[[1.0]]]]]; ksize={2, 1, 1, 1, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! Pooling is not yet supported on the batch dimension.",
    five_sizes: "AvgPool3D(f32[1,2,2,2,1]; ksize={1, 2, 2, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! passed list of length 4 less than minimum 5",
    infers: "AvgPool3D(f32[?,7,8,9,3]; ksize={1, 3, 3, 3, 1}, strides={1, 2, 2, 1, 1}, padding=\"SAME\") : f32[?,4,4,9,3]",
    infers_first: "AvgPool3D(f32[?,3,7,8,9]; ksize={1, 1, 3, 3, 3}, strides={1, 1, 2, 2, 1}, padding=\"VALID\", data_format=\"NCDHW\") : f32[?,3,3,3,7]",
}
