//! `QuantizedMaxPool`, `QuantizedAvgPool`: the pools of bytes that stand for floats.

use super::pool::{Call, cost, infer_output};
use super::quantum::{NO_SLOPE, QUANTA, Quantum, end, infer_ends, set_ends, takes_bytes};
use super::windows::Windows;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{IntList, OneOf, Words};
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, QU8};
use millstream_tensor::{QUInt8, Result, Tensor};

/// Sets the cells of the output for a window of an image.
type Fill = fn(&Windows, &[QUInt8], usize, &mut [QUInt8]);

pub(crate) fn def() -> [OpDef; 2] {
    let pool = |name, run: fn(&mut KernelCx) -> Result<()>| {
        OpDef::new(name)
            .input("input", "T")
            .input("min_input", F32)
            .on_host()
            .input("max_input", F32)
            .on_host()
            .output("output", "T")
            .output("min_output", F32)
            .output("max_output", F32)
            .attr("T", OneOf(QUANTA))
            .attr("ksize", IntList)
            .attr("strides", IntList)
            .attr("padding", Words(&["SAME", "VALID"]))
            .infer(|cx| {
                infer_ends(cx, 1)?;
                infer_output(cx, 2)
            })
            .kernel(Kernel::pure(run).cost(Cost::Estimate(cost)))
            .gradient(Gradient::Missing(NO_SLOPE))
    };
    [
        pool("QuantizedMaxPool", |cx| run(cx, maxima)).doc(
            "Returns, for each window of `ksize` cells and each channel, the greatest cell of `input`. The range stays \
             the same. The kernel is that of `quint8`.",
        ),
        pool("QuantizedAvgPool", |cx| run(cx, means)).doc(
            "Returns, for each window of `ksize` cells and each channel, the mean of the cells of `input`, rounded \
             down. Cells beyond the image do not count. The range stays the same. The kernel is that of `quint8`.",
        ),
    ]
}

fn run(cx: &mut KernelCx, fill: Fill) -> Result<()> {
    let range = (end(cx, 1)?, end(cx, 2)?);
    let input = cx.take(0);
    if input.dtype() != QU8 {
        return Err(takes_bytes(cx.node.op.name, input.dtype()));
    }
    let call = Call::of(cx, 2, input.shape(), false)?;
    let mut out = Tensor::zeros(QU8, call.output.clone())?;
    let cells = input.as_slice::<QUInt8>()?;
    call.each_window(fresh::<QUInt8>(&mut out)?, |n, p, row| {
        fill(&call.windows, call.image(cells, n), p, row)
    })?;
    cx.set(0, out);
    set_ends(cx, range);
    Ok(())
}

fn maxima(windows: &Windows, image: &[QUInt8], p: usize, row: &mut [QUInt8]) {
    row.fill(QUInt8(0));
    windows
        .cells(p, |cell| row.iter_mut().zip(&image[cell..]).for_each(|(best, x)| best.0 = best.0.max(x.0)));
}

fn means(windows: &Windows, image: &[QUInt8], p: usize, row: &mut [QUInt8]) {
    for (channel, mean) in row.iter_mut().enumerate() {
        let (mut sum, mut n) = (0u64, 0u64);
        windows.cells(p, |cell| {
            sum += image[cell + channel].value() as u64;
            n += 1;
        });
        *mean = QUInt8(sum.checked_div(n).unwrap_or(0) as u8);
    }
}

cases! {
    greatest: "QuantizedMaxPool(qu8[1,2,3,1] [[[[1] [5] [2]] [[4] [2] [9]]]], -1.0, 1.0; ksize={1, 2, 2, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") = qu8[1,1,2,1] [[[[5] [9]]]], -1.0, 1.0",
    means: "QuantizedAvgPool(qu8[1,2,3,1] [[[[1] [5] [2]] [[4] [2] [9]]]], -1.0, 1.0; ksize={1, 2, 2, 1}, strides={1, 2, 2, 1}, padding=\"SAME\") = qu8[1,1,2,1] [[[[3] [5]]]], -1.0, 1.0",
    each_channel: "QuantizedAvgPool(qu8[1,1,2,2] [[[[1 200] [3 255]]]], 0.0, 1.0; ksize={1, 1, 2, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") = qu8[1,1,1,2] [[[[2 227]]]], 0.0, 1.0",
    infers: "QuantizedMaxPool(qu8[?,7,8,3], f32[], f32[]; ksize={1, 3, 3, 1}, strides={1, 2, 2, 1}, padding=\"VALID\") : qu8[?,3,3,3], f32[], f32[]",
    scalar_ends: "QuantizedAvgPool(qu8[?,7,8,3], f32[2], f32[]; ksize={1, 3, 3, 1}, strides={1, 2, 2, 1}, padding=\"VALID\") ! must be rank 0 but is rank 1",
    of_bytes: "QuantizedMaxPool(qi8[1,1,1,1] [[[[1]]]], 0.0, 1.0; ksize={1, 1, 1, 1}, strides={1, 1, 1, 1}, padding=\"VALID\") ! it takes quint8",
    not_of_channels: "QuantizedMaxPool(qu8[1,1,1,2] [[[[1 2]]]], 0.0, 1.0; ksize={1, 1, 1, 2}, strides={1, 1, 1, 2}, padding=\"VALID\") ! Non-spatial pooling",
}
