//! `MaxPool`: the largest cell of each window.

use super::pool::{Call, cost, image_attrs, infer_output, maxima, node};
use crate::number::no_kernel;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{OneOf, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16};
use millstream_tensor::{Result, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("MaxPool")
        .doc("Returns, for each window of `ksize` cells and each channel, the largest cell of `input`.")
        .input("input", "T")
        .output("output", "T")
        .attr("T", OneOf(&[F16, BF16, F32, F64, I32, I64, U8, I16, I8, U16]).or(F32));
    image_attrs(def)
        .infer(|cx| infer_output(cx, 2))
        .kernel(Kernel::pure(|cx| run(cx, 2)).cost(Cost::Estimate(cost)))
        .gradient(Gradient::of(|cx| grad(cx, "MaxPoolGrad")))
}

pub(super) fn run(cx: &mut KernelCx, spatial: usize) -> Result<()> {
    let call = Call::of(cx, spatial, cx.input(0).shape(), spatial == 2)?;
    run_call(cx, &call)
}

pub(super) fn run_call(cx: &mut KernelCx, call: &Call) -> Result<()> {
    let input = call.take(cx, 0)?;
    let out = with_element!(input.dtype(), T in reals => {
        let mut out = Tensor::anything(input.dtype(), call.channels_last(&call.output))?;
        let cells = input.as_slice::<T>()?;
        call.each_window(fresh::<T>(&mut out)?, |n, p, row| maxima(&call.windows, call.image(cells, n), p, row))?;
        call.in_format(out)
    }, else => Err(no_kernel(cx.node.op.name, input.dtype())))?;
    cx.set(0, out);
    Ok(())
}

pub(super) fn grad(cx: &mut GradCx, to_input: &'static str) -> Result<()> {
    let (input, output, dy) = (cx.input(0), cx.output(0), cx.grad(0));
    let dx = node(cx, to_input, [input, output, dy]);
    cx.give(0, dx);
    Ok(())
}

cases! {
    largest_of_each_window: "MaxPool([[[[1.0] [5.0] [2.0] [3.0]] [[4.0] [0.0] [9.0] [8.0]]]]; ksize={1, 2, 2, 1}, strides={1, 2, 2, 1}, padding=\"VALID\") = [[[[5.0] [9.0]]]]",
    overlapping: "MaxPool([[[[0.0 18.0] [1.0 17.0] [9.0 22.0] [10.0 6.0]] [[20.0 3.0] [12.0 14.0] [5.0 7.0] [16.0 19.0]] [[13.0 8.0] [4.0 23.0] [15.0 11.0] [2.0 21.0]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\") = [[[[20.0 22.0] [16.0 22.0]] [[20.0 23.0] [16.0 21.0]] [[15.0 23.0] [15.0 21.0]]]]",
    channels_first: "MaxPool([[[[1.0 17.0 0.0] [13.0 8.0 33.0] [10.0 24.0 9.0]] [[23.0 20.0 6.0] [7.0 25.0 26.0] [21.0 32.0 16.0]]] [[[2.0 29.0 31.0] [30.0 4.0 14.0] [18.0 3.0 5.0]] [[11.0 27.0 12.0] [19.0 28.0 35.0] [34.0 15.0 22.0]]]]; ksize={1, 1, 2, 2}, strides={1, 1, 1, 2}, padding=\"VALID\", data_format=\"NCHW\") = [[[[17.0] [24.0]] [[25.0] [32.0]]] [[[30.0] [30.0]] [[28.0] [34.0]]]]",
    of_channels: "MaxPool([[[[1.0 5.0 2.0 3.0]]]]; ksize={1, 1, 1, 2}, strides={1, 1, 1, 2}, padding=\"VALID\") = [[[[5.0 3.0]]]]",
    nans_are_not_large: "MaxPool([[[[nan] [1.0] [nan]]]]; ksize={1, 1, 3, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[1.0]]]]",
    of_integers: "MaxPool([[[[3] [1] [7]]]]; ksize={1, 1, 2, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[3] [7]]]]",
    infers: "MaxPool(f32[?,7,8,3]; ksize={1, 3, 3, 1}, strides={1, 2, 2, 1}, padding=\"SAME\") : f32[?,4,4,3]",
    infers_channels: "MaxPool(f32[?,7,8,6]; ksize={1, 1, 1, 3}, strides={1, 1, 1, 3}, padding=\"VALID\") : f32[?,7,8,2]",
    not_of_batches: "MaxPool([[[[1.0]]]]; ksize={2, 1, 1, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") ! not yet supported on the batch dimension",
    not_of_all: "MaxPool([[[[1.0 2.0] [3.0 4.0]]]]; ksize={1, 1, 2, 2}, strides={1, 1, 1, 2}, padding=\"VALID\") ! exactly one of pooling",
    window_of_nothing: "MaxPool([[[[1.0]]]]; ksize={1, 0, 1, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") ! Sliding window ksize for dimension 1 was zero",
    four_sizes: "MaxPool(f32[1,2,2,1]; ksize={1, 2, 2}, strides={1, 1, 1, 1}, padding=\"VALID\") ! `ksize` is [1, 2, 2]",
}
