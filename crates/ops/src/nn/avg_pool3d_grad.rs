//! `AvgPool3DGrad`: the gradient of `AvgPool3D`.

use super::avg_pool_grad::{grad, run};
use super::pool::{infer_sizes, volume_attrs};
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{Cost, Gradient, Kernel, OpDef};
use millstream_tensor::DType::I32;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("AvgPool3DGrad")
        .doc(
            "Distributes `grad`, the gradient of each window of an AvgPool3D over volumes of shape \
             `orig_input_shape`, to the cells of the window in equal parts.",
        )
        .input("orig_input_shape", I32)
        .on_host()
        .input("grad", "T")
        .output("output", "T");
    volume_attrs(def)
        .attr("T", FloatType)
        .infer(|cx| infer_sizes(cx, 3))
        .kernel(Kernel::pure(|cx| run(cx, 3)).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::of(|cx| grad(cx, "AvgPool3D")))
}

cases! {
    overlapping: "AvgPool3DGrad([1 2 3 3 2], [[[[[2.0 4.0] [1.0 2.0] [3.0 -4.0]] [[-2.0 -3.0] [2.0 -2.0] [-2.0 1.0]]] [[[3.0 -3.0] [0.0 3.0] [-1.0 -3.0]] [[-2.0 -1.0] [-3.0 1.0] [0.0 1.0]]]]]; ksize={1, 2, 2, 2, 1}, strides={1, 1, 2, 1, 1}, padding=\"SAME\") ~ [[[[[0.25 0.5] [0.375 0.75] [0.875 -0.75]] [[0.25 0.5] [0.375 0.75] [0.875 -0.75]] [[-0.5 -0.75] [0.0 -1.25] [-0.5 0.0]]] [[[1.0 -0.25] [1.125 0.75] [0.375 -1.5]] [[1.0 -0.25] [1.125 0.75] [0.375 -1.5]] [[-1.5 -1.25] [-2.5 -1.25] [-2.0 1.5]]]]]",
    infers: "AvgPool3DGrad([2 7 8 9 3], f32[..]; ksize={1, 3, 3, 3, 1}, strides={1, 2, 2, 2, 1}, padding=\"SAME\") : f32[2,7,8,9,3]",
    gradient_fits: "AvgPool3DGrad([1 1 1 2 1], [[[[[5.0] [6.0]]]]]; ksize={1, 1, 1, 2, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! `grad` has shape [1,1,1,2,1]",
}
