//! `MaxPool3DGrad`, `MaxPool3DGradGrad`: the gradient of `MaxPool3D`, and that of the gradient.

//!
//! As in TensorFlow, every cell of a window that equals the largest gets the window's gradient. In images,
//! and in the gradient of the gradient, only the first one counts.

use super::max_pool_grad::{grad, infer_back, run_back};
use super::pool::{Call, cost, infer_input, volume_attrs};
use crate::number::{Num as _, no_kernel};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{FloatType, RealNumber, Spec};
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::{Result, Tensor, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    let def = |name, of: &'static str| {
        let def = OpDef::new(name).input("orig_input", of).input("orig_output", of).input("grad", "T");
        volume_attrs(def.output("output", "T"))
    };
    [
        def("MaxPool3DGrad", "TInput")
            .doc("Adds `grad`, the gradient of each window of a MaxPool3D, to the cells that are its largest.")
            .attr("T", FloatType.or(F32))
            .attr("TInput", FloatType.or(F32))
            .infer(|cx| infer_input(cx, 3))
            .kernel(Kernel::pure(run).cost(Cost::Estimate(cost)))
            .gradient(Gradient::of(|cx| grad(cx, "MaxPool3DGradGrad"))),
        def("MaxPool3DGradGrad", "T")
            .doc(
                "Returns, for each window of a MaxPool3D, the cell of `grad` at the place of the largest cell.",
            )
            .attr("T", RealNumber)
            .infer(|cx| infer_back(cx, 3))
            .kernel(Kernel::pure(|cx| run_back(cx, 3)).cost(Cost::Estimate(cost)))
            .gradient(Gradient::of(|cx| grad(cx, "MaxPool3DGrad"))),
    ]
}

fn run(cx: &mut KernelCx) -> Result<()> {
    if cx.input(0).dtype() != cx.input(2).dtype() {
        return Err(no_kernel(cx.node.op.name, cx.input(2).dtype()));
    }
    let call = Call::of(cx, 3, cx.input(0).shape(), false)?;
    call.expect(cx, 1, false)?;
    call.expect(cx, 2, false)?;
    let (input, output, grads) = (call.take(cx, 0)?, call.take(cx, 1)?, call.take(cx, 2)?);
    let out = with_element!(input.dtype(), T in floats => {
        let mut out = Tensor::zeros(input.dtype(), input.shape().clone())?;
        let (cells, largest, grads) = (input.as_slice::<T>()?, output.as_slice::<T>()?, grads.as_slice::<T>()?);
        call.each_image(fresh::<T>(&mut out)?, |n, image| {
            let (cells, depth) = (call.image(cells, n), call.windows.channels);
            let (largest, grads) = (call.results(largest, n), call.results(grads, n));
            call.windows_of_image(|p| {
                let (largest, grads) = (&largest[p * depth..][..depth], &grads[p * depth..][..depth]);
                call.windows.cells(p, |cell| {
                    for (c, (most, g)) in largest.iter().zip(grads).enumerate() {
                        if cells[cell + c] == *most {
                            image[cell + c] = image[cell + c].add(*g);
                        }
                    }
                });
            })
        })?;
        call.in_format(out)
    }, else => Err(no_kernel(cx.node.op.name, input.dtype())))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    to_all_equals: "MaxPool3DGrad([[[[[1.0] [1.0] [0.0]]]]], [[[[[1.0] [1.0]]]]], [[[[[5.0] [7.0]]]]]; ksize={1, 1, 1, 2, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") = [[[[[5.0] [12.0] [0.0]]]]]",
    of_the_first_of_equals: "MaxPool3DGradGrad([[[[[1.0] [1.0]]]]], [[[[[1.0]]]]], [[[[[5.0] [7.0]]]]]; ksize={1, 1, 1, 2, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") = [[[[[5.0]]]]]",
    to_the_largest: "MaxPool3DGrad([[[[[18.0 24.0] [11.0 8.0] [16.0 10.0]] [[25.0 19.0] [23.0 32.0] [20.0 14.0]] [[28.0 22.0] [26.0 15.0] [1.0 29.0]]] [[[27.0 6.0] [9.0 7.0] [17.0 5.0]] [[2.0 33.0] [31.0 13.0] [3.0 35.0]] [[34.0 21.0] [30.0 4.0] [12.0 0.0]]]]], [[[[[31.0 33.0] [31.0 35.0] [20.0 35.0]] [[34.0 22.0] [30.0 29.0] [12.0 29.0]]] [[[31.0 33.0] [31.0 35.0] [17.0 35.0]] [[34.0 21.0] [30.0 4.0] [12.0 0.0]]]]], [[[[[2.0 4.0] [1.0 2.0] [3.0 -4.0]] [[-2.0 -3.0] [2.0 -2.0] [-2.0 1.0]]] [[[3.0 -3.0] [0.0 3.0] [-1.0 -3.0]] [[-2.0 -1.0] [-3.0 1.0] [0.0 1.0]]]]]; ksize={1, 2, 2, 2, 1}, strides={1, 1, 2, 1, 1}, padding=\"SAME\") = [[[[[0.0 0.0] [0.0 0.0] [0.0 0.0]] [[0.0 0.0] [0.0 0.0] [3.0 0.0]] [[0.0 -3.0] [0.0 0.0] [0.0 -1.0]]] [[[0.0 0.0] [0.0 0.0] [-1.0 0.0]] [[0.0 1.0] [6.0 0.0] [0.0 -2.0]] [[-4.0 -1.0] [-1.0 1.0] [-2.0 1.0]]]]]",
    of_the_largest: "MaxPool3DGradGrad([[[[[18.0 24.0] [11.0 8.0] [16.0 10.0]] [[25.0 19.0] [23.0 32.0] [20.0 14.0]] [[28.0 22.0] [26.0 15.0] [1.0 29.0]]] [[[27.0 6.0] [9.0 7.0] [17.0 5.0]] [[2.0 33.0] [31.0 13.0] [3.0 35.0]] [[34.0 21.0] [30.0 4.0] [12.0 0.0]]]]], [[[[[31.0 33.0] [31.0 35.0] [20.0 35.0]] [[34.0 22.0] [30.0 29.0] [12.0 29.0]]] [[[31.0 33.0] [31.0 35.0] [17.0 35.0]] [[34.0 21.0] [30.0 4.0] [12.0 0.0]]]]], [[[[[-2.0 0.0] [-3.0 -1.0] [-2.0 -3.0]] [[0.0 1.0] [4.0 -1.0] [-3.0 -2.0]] [[2.0 1.0] [3.0 -3.0] [-1.0 -1.0]]] [[[1.0 -4.0] [3.0 -2.0] [2.0 -4.0]] [[-3.0 -4.0] [0.0 2.0] [1.0 2.0]] [[0.0 3.0] [-4.0 0.0] [-2.0 4.0]]]]]; ksize={1, 2, 2, 2, 1}, strides={1, 1, 2, 1, 1}, padding=\"SAME\") = [[[[[0.0 -4.0] [0.0 2.0] [-3.0 2.0]] [[0.0 1.0] [-4.0 -1.0] [-2.0 -1.0]]] [[[0.0 -4.0] [0.0 2.0] [2.0 2.0]] [[0.0 3.0] [-4.0 0.0] [-2.0 4.0]]]]]",
    infers: "MaxPool3DGrad(f32[?,7,8,9,3], f32[..], f32[..]; ksize={1, 3, 3, 3, 1}, strides={1, 2, 2, 2, 1}, padding=\"SAME\") : f32[?,7,8,9,3]",
    infers_back: "MaxPool3DGradGrad(f32[?,7,8,9,3], f32[..], f32[..]; ksize={1, 3, 3, 3, 1}, strides={1, 2, 2, 2, 1}, padding=\"SAME\") : f32[?,4,4,5,3]",
    gradient_fits: "MaxPool3DGrad([[[[[1.0] [1.0]]]]], [[[[[1.0]]]]], [[[[[5.0] [6.0]]]]]; ksize={1, 1, 1, 2, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! `grad` has shape [1,1,1,2,1]",
    one_dtype: "MaxPool3DGrad([[[[[1.0]]]]], [[[[[1.0]]]]], f16 [[[[[5.0]]]]]; ksize={1, 1, 1, 1, 1}, strides={1, 1, 1, 1, 1}, padding=\"VALID\") ! MaxPool3DGrad",
}
