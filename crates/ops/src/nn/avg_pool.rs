//! `AvgPool`: the mean of each window.

use super::pool::{Call, cost, image_attrs, infer_output, means, node};
use crate::number::no_kernel;
use crate::shared::casting::cast;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::FloatType;
use millstream_graph::op::{Cost, GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{self, BF16, F16, F32};
use millstream_tensor::{Result, Tensor, with_element};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("AvgPool")
        .doc(
            "Returns, for each window of `ksize` cells and each channel, the mean of the cells of `value`. Cells \
             beyond the image do not count.",
        )
        .input("value", "T")
        .output("output", "T")
        .attr("T", FloatType);
    image_attrs(def)
        .infer(|cx| infer_output(cx, 2))
        .kernel(Kernel::pure(|cx| run(cx, 2)).cost(Cost::Estimate(cost)))
        .gradient(Gradient::of(|cx| grad(cx, "AvgPoolGrad")))
}

/// The dtype in which means are computed.
pub(super) fn wide(dtype: DType) -> DType {
    if matches!(dtype, F16 | BF16) { F32 } else { dtype }
}

pub(super) fn run(cx: &mut KernelCx, spatial: usize) -> Result<()> {
    let call = Call::of(cx, spatial, cx.input(0).shape(), false)?;
    let dtype = cx.input(0).dtype();
    let input = cast(&call.take(cx, 0)?, wide(dtype))?;
    let out = with_element!(input.dtype(), T in [F32 F64] => {
        let mut out = Tensor::anything(input.dtype(), call.channels_last(&call.output))?;
        let cells = input.as_slice::<T>()?;
        call.each_window(fresh::<T>(&mut out)?, |n, p, row| means(&call.windows, call.image(cells, n), p, row))?;
        call.in_format(cast(&out, dtype)?)
    }, else => Err(no_kernel(cx.node.op.name, dtype)))?;
    cx.set(0, out);
    Ok(())
}

pub(super) fn grad(cx: &mut GradCx, to_input: &'static str) -> Result<()> {
    let (shape, dy) = (cx.shape_of_input(0), cx.grad(0));
    let dx = node(cx, to_input, [shape, dy]);
    cx.give(0, dx);
    Ok(())
}

cases! {
    mean_of_each_window: "AvgPool([[[[1.0] [5.0] [2.0] [3.0]] [[4.0] [2.0] [9.0] [8.0]]]]; ksize={1, 2, 2, 1}, strides={1, 2, 2, 1}, padding=\"VALID\") = [[[[3.0] [5.5]]]]",
    overlapping: "AvgPool([[[[0.0 18.0] [1.0 17.0] [9.0 22.0] [10.0 6.0]] [[20.0 3.0] [12.0 14.0] [5.0 7.0] [16.0 19.0]] [[13.0 8.0] [4.0 23.0] [15.0 11.0] [2.0 21.0]]]]; ksize={1, 2, 3, 1}, strides={1, 1, 2, 1}, padding=\"SAME\") ~ [[[[7.833333333333333 13.5] [10.0 13.5]] [[11.5 11.0] [9.5 14.5]] [[10.666666666666666 14.0] [8.5 16.0]]]]",
    channels_first: "AvgPool([[[[1.0 17.0 0.0] [13.0 8.0 33.0] [10.0 24.0 9.0]] [[23.0 20.0 6.0] [7.0 25.0 26.0] [21.0 32.0 16.0]]] [[[2.0 29.0 31.0] [30.0 4.0 14.0] [18.0 3.0 5.0]] [[11.0 27.0 12.0] [19.0 28.0 35.0] [34.0 15.0 22.0]]]]; ksize={1, 1, 2, 2}, strides={1, 1, 1, 2}, padding=\"VALID\", data_format=\"NCHW\") ~ [[[[9.75] [13.75]] [[18.75] [21.25]]] [[[16.25] [13.75]] [[21.25] [24.0]]]]",
    infers: "AvgPool(f32[?,7,8,3]; ksize={1, 3, 3, 1}, strides={1, 2, 2, 1}, padding=\"VALID\") : f32[?,3,3,3]",
    not_of_channels: "AvgPool([[[[1.0 2.0]]]]; ksize={1, 1, 1, 2}, strides={1, 1, 1, 2}, padding=\"VALID\") ! Non-spatial pooling",
    window_fits: "AvgPool(f32[1,2,5,3]; ksize={1, 3, 3, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") ! subtracting 3 from 2",
}
