//! `Conv3DBackpropInput`, `Conv3DBackpropFilter`: the gradients of `Conv3D` under their first names, by a
//! volume and a filter whose shapes alone matter.

use super::convolution::{
    VOLUMES, cost_of_to_input, grad_to_filter, grad_to_input, run_like_filter, run_like_input,
};
use super::windows::Layout;
use millstream_graph::op::spec::{IntList, OneOf, Spec, Words};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, OpDef};
use millstream_tensor::DType::{F16, F32, F64};
use millstream_tensor::Result;

pub(crate) fn def() -> [OpDef; 2] {
    let op = |name| {
        OpDef::new(name)
            .input("input", "T")
            .input("filter", "T")
            .input("out_backprop", "T")
            .output("output", "T")
            .attr("T", OneOf(&[F16, F32, F64]))
            .attr("strides", IntList)
            .attr("padding", Words(&["SAME", "VALID"]))
            .attr("dilations", IntList.or(vec![1i64; 5]))
    };
    [
        op("Conv3DBackpropInput")
            .doc("The first form of `Conv3DBackpropInputV2`, which takes the shape of `input` in its place.")
            .infer(|cx| infer_like(cx, 0))
            .kernel(Kernel::pure(|cx| run_like_input(cx, VOLUMES)).cost(Cost::Estimate(cost_of_to_input)))
            .gradient(Gradient::of(|cx| grad_to_input(cx, VOLUMES))),
        op("Conv3DBackpropFilter")
            .doc(
                "The first form of `Conv3DBackpropFilterV2`, which takes the shape of `filter` in its place.",
            )
            .infer(|cx| infer_like(cx, 1))
            .kernel(Kernel::pure(|cx| run_like_filter(cx, VOLUMES)).cost(Cost::Estimate(cost_of_to_input)))
            .gradient(Gradient::of(|cx| grad_to_filter(cx, VOLUMES))),
    ]
}

fn infer_like(cx: &mut InferCx, i: usize) -> Result<()> {
    Layout::of(cx.node().op.name, cx.attrs(), 3)?;
    (0..3).try_for_each(|i| cx.with_rank(i, 5).map(drop))?;
    let shape = cx.with_rank(i, 5)?;
    cx.set(0, shape);
    Ok(())
}

cases! {
    scatters: "Conv3DBackpropInput([[[[[0.0] [0.0]]]]], [[[[[-1.0]]]]], [[[[[2.0] [3.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"SAME\") = [[[[[-2.0] [-3.0]]]]]",
    sums_products: "Conv3DBackpropFilter([[[[[4.0] [-1.0]]]]], [[[[[0.0]]]]], [[[[[2.0] [3.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"VALID\") = [[[[[5.0]]]]]",
    infers: "Conv3DBackpropInput(f32[2,?,5,5,3], f32[3,3,3,3,4], f32[..]; strides={1, 1, 1, 1, 1}, padding=\"SAME\") : f32[2,?,5,5,3]",
    infers_the_filter: "Conv3DBackpropFilter(f32[2,?,5,5,3], f32[3,3,3,3,4], f32[..]; strides={1, 1, 1, 1, 1}, padding=\"SAME\") : f32[3,3,3,3,4]",
    gradient_fits: "Conv3DBackpropInput([[[[[0.0] [0.0] [0.0]]]]], [[[[[1.0]]]]], [[[[[1.0] [2.0]]]]]; strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! give [1,1,1,3,1]",
}
