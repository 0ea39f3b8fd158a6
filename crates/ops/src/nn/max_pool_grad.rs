//! `MaxPoolGrad`, `MaxPoolGradGrad`: the gradient of `MaxPool`, and that of the gradient.

use super::pool::{Call, cost, image_attrs, infer_input, infer_output, largest, node};
use crate::number::{Num as _, no_kernel};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{RealNumber, Spec};
use millstream_graph::op::{Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::{Result, Tensor, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    let def = |name| {
        let def = OpDef::new(name).input("orig_input", "T").input("orig_output", "T").input("grad", "T");
        image_attrs(def.output("output", "T"))
    };
    [
        def("MaxPoolGrad")
            .doc("Adds `grad`, the gradient of each window of a MaxPool, to the window's largest cell.")
            .attr("T", RealNumber.or(F32))
            .infer(|cx| infer_input(cx, 2))
            .kernel(Kernel::pure(|cx| run(cx, 2)).cost(Cost::Estimate(cost)))
            .gradient(Gradient::of(|cx| grad(cx, "MaxPoolGradGrad"))),
        def("MaxPoolGradGrad")
            .doc(
                "Returns, for each window of a MaxPool, the cell of `grad` at the place of the largest cell.",
            )
            .attr("T", RealNumber)
            .infer(|cx| infer_back(cx, 2))
            .kernel(Kernel::pure(|cx| run_back(cx, 2)).cost(Cost::Estimate(cost)))
            .gradient(Gradient::of(|cx| grad(cx, "MaxPoolGrad"))),
    ]
}

pub(super) fn infer_back(cx: &mut InferCx, spatial: usize) -> Result<()> {
    cx.merge(0, 2)?;
    infer_output(cx, spatial)
}

fn run(cx: &mut KernelCx, spatial: usize) -> Result<()> {
    let call = Call::of(cx, spatial, cx.input(0).shape(), spatial == 2)?;
    run_call(cx, &call)
}

pub(super) fn run_call(cx: &mut KernelCx, call: &Call) -> Result<()> {
    call.expect(cx, 1, false)?;
    call.expect(cx, 2, false)?;
    let (input, grads) = (call.take(cx, 0)?, call.take(cx, 2)?);
    let out = with_element!(input.dtype(), T in reals => {
        let mut out = Tensor::zeros(input.dtype(), input.shape().clone())?;
        let (cells, grads) = (input.as_slice::<T>()?, grads.as_slice::<T>()?);
        call.each_image(fresh::<T>(&mut out)?, |n, image| {
            let (cells, grads) = (call.image(cells, n), call.results(grads, n));
            call.windows_of_image(|p| {
                let grads = &grads[p * call.windows.channels..];
                largest(&call.windows, cells, p, |c, at| image[at] = image[at].add(grads[c]));
            })
        })?;
        call.in_format(out)
    }, else => Err(no_kernel(cx.node.op.name, input.dtype())))?;
    cx.set(0, out);
    Ok(())
}

pub(super) fn run_back(cx: &mut KernelCx, spatial: usize) -> Result<()> {
    let call = Call::of(cx, spatial, cx.input(0).shape(), spatial == 2)?;
    run_back_call(cx, &call)
}

pub(super) fn run_back_call(cx: &mut KernelCx, call: &Call) -> Result<()> {
    call.expect(cx, 1, false)?;
    call.expect(cx, 2, true)?;
    let (input, grads) = (call.take(cx, 0)?, call.take(cx, 2)?);
    let out = with_element!(input.dtype(), T in reals => {
        let mut out = Tensor::zeros(input.dtype(), call.channels_last(&call.output))?;
        let (cells, grads) = (input.as_slice::<T>()?, grads.as_slice::<T>()?);
        call.each_window(fresh::<T>(&mut out)?, |n, p, row| {
            let grads = call.image(grads, n);
            largest(&call.windows, call.image(cells, n), p, |c, at| row[c] = grads[at]);
        })?;
        call.in_format(out)
    }, else => Err(no_kernel(cx.node.op.name, input.dtype())))?;
    cx.set(0, out);
    Ok(())
}

// Both are linear in `grad` and each other's transpose. Which cell is the largest changes nowhere but at
// ties.
pub(super) fn grad(cx: &mut GradCx, back: &'static str) -> Result<()> {
    if cx.wants(2) {
        let (input, output, dy) = (cx.input(0), cx.input(1), cx.grad(0));
        let ddy = node(cx, back, [input, output, dy]);
        cx.give(2, ddy);
    }
    for i in 0..2 {
        if cx.wants(i) {
            let zeros = cx.zeros_like_input(i);
            cx.give(i, zeros);
        }
    }
    Ok(())
}

cases! {
    to_the_largest: "MaxPoolGrad([[[[1.0] [5.0] [2.0] [3.0]] [[4.0] [0.0] [9.0] [8.0]]]], [[[[5.0] [9.0]]]], [[[[10.0] [20.0]]]]; ksize={1, 2, 2, 1}, strides={1, 2, 2, 1}, padding=\"VALID\") = [[[[0.0] [10.0] [0.0] [0.0]] [[0.0] [0.0] [20.0] [0.0]]]]",
    of_the_largest: "MaxPoolGradGrad([[[[1.0] [5.0] [2.0] [3.0]] [[4.0] [0.0] [9.0] [8.0]]]], [[[[5.0] [9.0]]]], [[[[1.0] [2.0] [3.0] [4.0]] [[5.0] [6.0] [7.0] [8.0]]]]; ksize={1, 2, 2, 1}, strides={1, 2, 2, 1}, padding=\"VALID\") = [[[[2.0] [7.0]]]]",
    overlapping: "MaxPoolGrad([[[[0.0 18.0] [1.0 17.0] [9.0 22.0] [10.0 6.0]] [[20.0 3.0] [12.0 14.0] [5.0 7.0] [16.0 19.0]] [[13.0 8.0] [4.0 23.0] [15.0 11.0] [2.0 21.0]]]], [[[[20.0 22.0] [16.0 22.0]] [[20.0 23.0] [16.0 21.0]] [[15.0 23.0] [15.0 21.0]]]], [[[[4.0 0.0] [-2.0 -3.0]] [[3.0 -4.0] [4.0 4.0]] [[-3.0 -2.0] [-1.0 -4.0]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\") = [[[[0.0 0.0] [0.0 0.0] [0.0 -3.0] [0.0 0.0]] [[7.0 0.0] [0.0 0.0] [0.0 0.0] [2.0 0.0]] [[0.0 0.0] [0.0 -6.0] [-4.0 0.0] [0.0 0.0]]]]",
    overlapping_back: "MaxPoolGradGrad([[[[0.0 18.0] [1.0 17.0] [9.0 22.0] [10.0 6.0]] [[20.0 3.0] [12.0 14.0] [5.0 7.0] [16.0 19.0]] [[13.0 8.0] [4.0 23.0] [15.0 11.0] [2.0 21.0]]]], [[[[20.0 22.0] [16.0 22.0]] [[20.0 23.0] [16.0 21.0]] [[15.0 23.0] [15.0 21.0]]]], [[[[-3.0 -3.0] [1.0 1.0] [2.0 -4.0] [-1.0 -2.0]] [[0.0 -2.0] [4.0 0.0] [-4.0 -4.0] [-2.0 2.0]] [[-1.0 1.0] [0.0 2.0] [0.0 4.0] [-2.0 0.0]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\") = [[[[0.0 -4.0] [-2.0 -4.0]] [[0.0 2.0] [-2.0 0.0]] [[0.0 2.0] [0.0 0.0]]]]",
    channels_first: "MaxPoolGrad([[[[1.0 17.0 0.0] [13.0 8.0 33.0] [10.0 24.0 9.0]] [[23.0 20.0 6.0] [7.0 25.0 26.0] [21.0 32.0 16.0]]] [[[2.0 29.0 31.0] [30.0 4.0 14.0] [18.0 3.0 5.0]] [[11.0 27.0 12.0] [19.0 28.0 35.0] [34.0 15.0 22.0]]]], [[[[17.0] [24.0]] [[25.0] [32.0]]] [[[30.0] [30.0]] [[28.0] [34.0]]]], [[[[4.0] [-4.0]] [[0.0] [0.0]]] [[[-3.0] [0.0]] [[3.0] [-4.0]]]]; ksize={1, 1, 2, 2}, strides={1, 1, 1, 2}, padding=\"VALID\", data_format=\"NCHW\") = [[[[0.0 4.0 0.0] [0.0 0.0 0.0] [0.0 -4.0 0.0]] [[0.0 0.0 0.0] [0.0 0.0 0.0] [0.0 0.0 0.0]]] [[[0.0 0.0 0.0] [-3.0 0.0 0.0] [0.0 0.0 0.0]] [[0.0 0.0 0.0] [0.0 3.0 0.0] [-4.0 0.0 0.0]]]]",
    channels_first_back: "MaxPoolGradGrad([[[[1.0 17.0 0.0] [13.0 8.0 33.0] [10.0 24.0 9.0]] [[23.0 20.0 6.0] [7.0 25.0 26.0] [21.0 32.0 16.0]]] [[[2.0 29.0 31.0] [30.0 4.0 14.0] [18.0 3.0 5.0]] [[11.0 27.0 12.0] [19.0 28.0 35.0] [34.0 15.0 22.0]]]], [[[[17.0] [24.0]] [[25.0] [32.0]]] [[[30.0] [30.0]] [[28.0] [34.0]]]], [[[[-3.0 2.0 -4.0] [0.0 -3.0 -4.0] [-1.0 2.0 1.0]] [[-4.0 -2.0 -2.0] [0.0 -4.0 -2.0] [3.0 -1.0 2.0]]] [[[4.0 3.0 4.0] [2.0 -2.0 2.0] [2.0 -4.0 2.0]] [[2.0 -1.0 1.0] [0.0 3.0 4.0] [-3.0 3.0 4.0]]]]; ksize={1, 1, 2, 2}, strides={1, 1, 1, 2}, padding=\"VALID\", data_format=\"NCHW\") = [[[[2.0] [2.0]] [[-4.0] [-1.0]]] [[[2.0] [2.0]] [[3.0] [-3.0]]]]",
    first_of_equals: "MaxPoolGrad([[[[1.0] [1.0]]]], [[[[1.0]]]], [[[[5.0]]]]; ksize={1, 1, 2, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") = [[[[5.0] [0.0]]]]",
    infers: "MaxPoolGrad(f32[?,7,8,3], f32[..], f32[..]; ksize={1, 3, 3, 1}, strides={1, 2, 2, 1}, padding=\"SAME\") : f32[?,7,8,3]",
    infers_back: "MaxPoolGradGrad(f32[?,7,8,3], f32[..], f32[..]; ksize={1, 3, 3, 1}, strides={1, 2, 2, 1}, padding=\"SAME\") : f32[?,4,4,3]",
    gradient_fits: "MaxPoolGrad([[[[1.0] [1.0]]]], [[[[1.0]]]], [[[[5.0] [6.0]]]]; ksize={1, 1, 2, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") ! `grad` has shape [1,1,2,1]",
}
