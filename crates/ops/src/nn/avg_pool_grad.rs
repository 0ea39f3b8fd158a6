//! `AvgPoolGrad`: the gradient of `AvgPool`.

use super::avg_pool::wide;
use super::pool::{Call, image_attrs, infer_sizes, node, sizes, spread};
use crate::number::no_kernel;
use crate::shared::casting::cast;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I32;
use millstream_tensor::{Result, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("AvgPoolGrad")
        .doc(
            "Distributes `grad`, the gradient of each window of an AvgPool over images of shape \
             `orig_input_shape`, to the cells of the window in equal parts.",
        )
        .input("orig_input_shape", I32)
        .on_host()
        .input("grad", "T")
        .output("output", "T")
        .attr("T", FloatType);
    image_attrs(def)
        .infer(|cx| infer_sizes(cx, 2))
        .kernel(Kernel::pure(|cx| run(cx, 2)).cost(Cost::PerElement(8.0)))
        .gradient(Gradient::of(|cx| grad(cx, "AvgPool")))
}

pub(super) fn run(cx: &mut KernelCx, spatial: usize) -> Result<()> {
    let shape = sizes(cx, spatial + 2)?;
    let call = Call::of(cx, spatial, &shape, false)?;
    call.expect(cx, 1, false)?;
    let dtype = cx.input(1).dtype();
    let grads = cast(&call.take(cx, 1)?, wide(dtype))?;
    let out = with_element!(grads.dtype(), T in [F32 F64] => {
        let mut out = Tensor::zeros(grads.dtype(), call.channels_last(&shape))?;
        let grads = grads.as_slice::<T>()?;
        call.each_image(fresh::<T>(&mut out)?, |n, image| {
            let grads = call.results(grads, n);
            let depth = call.windows.channels;
            call.windows_of_image(|p| spread(&call.windows, image, p, &grads[p * depth..][..depth]))
        })?;
        call.in_format(cast(&out, dtype)?)
    }, else => Err(no_kernel(cx.node.op.name, dtype)))?;
    cx.set(0, out);
    Ok(())
}

pub(super) fn grad(cx: &mut GradCx, back: &'static str) -> Result<()> {
    let g = cx.grad(0);
    let dy = node(cx, back, [g]);
    cx.give(1, dy);
    Ok(())
}

cases! {
    equal_parts: "AvgPoolGrad([1 2 4 1], [[[[4.0] [8.0]]]]; ksize={1, 2, 2, 1}, strides={1, 2, 2, 1}, padding=\"VALID\") = [[[[1.0] [1.0] [2.0] [2.0]] [[1.0] [1.0] [2.0] [2.0]]]]",
    overlapping: "AvgPoolGrad([1 3 4 2], [[[[4.0 0.0] [-2.0 -3.0]] [[3.0 -4.0] [4.0 4.0]] [[-3.0 -2.0] [-1.0 -4.0]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\") ~ [[[[0.6666666666666666 0.0] [0.6666666666666666 0.0] [0.16666666666666663 -0.75] [-0.5 -0.75]] [[1.1666666666666665 -0.6666666666666666] [1.1666666666666665 -0.6666666666666666] [1.6666666666666665 -0.4166666666666665] [0.5 0.25]] [[-0.5 -1.3333333333333333] [-0.5 -1.3333333333333333] [0.0 -2.333333333333333] [0.5 -1.0]]]]",
    channels_first: "AvgPoolGrad([2 2 3 3], [[[[4.0] [-4.0]] [[0.0] [0.0]]] [[[-3.0] [0.0]] [[3.0] [-4.0]]]]; ksize={1, 1, 2, 2}, strides={1, 1, 1, 2}, padding=\"VALID\", data_format=\"NCHW\") ~ [[[[1.0 1.0 0.0] [0.0 0.0 0.0] [-1.0 -1.0 0.0]] [[0.0 0.0 0.0] [0.0 0.0 0.0] [0.0 0.0 0.0]]] [[[-0.75 -0.75 0.0] [-0.75 -0.75 0.0] [0.0 0.0 0.0]] [[0.75 0.75 0.0] [-0.25 -0.25 0.0] [-1.0 -1.0 0.0]]]]",
    infers: "AvgPoolGrad([2 7 8 3], f32[..]; ksize={1, 3, 3, 1}, strides={1, 2, 2, 1}, padding=\"SAME\") : f32[2,7,8,3]",
    gradient_fits: "AvgPoolGrad([1 1 2 1], [[[[5.0] [6.0]]]]; ksize={1, 1, 2, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") ! `grad` has shape [1,1,2,1]",
}
