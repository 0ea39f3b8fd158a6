//! `QuantizedConv2D`: the convolution of bytes that stand for floats.

use super::convolution::{convolved, infer_convolved};
use super::quantized_mat_mul::as_quanta;
use super::quantum::{NO_SLOPE, QUANTA, centered, end, infer_ends, range_of_products, set_ends, takes_bytes};
use millstream_graph::op::spec::{IntList, OneOf, Spec, Words};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{F32, QI32, QU8};
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("QuantizedConv2D")
        .doc(
            "Returns the `Conv2D` of bytes that stand for floats of the given ranges, as integers of 32 bits, and the \
             range that they stand for. The kernel is that of `quint8`.",
        )
        .input("input", "Tinput")
        .input("filter", "Tfilter")
        .input("min_input", F32)
        .on_host()
        .input("max_input", F32)
        .on_host()
        .input("min_filter", F32)
        .on_host()
        .input("max_filter", F32)
        .on_host()
        .output("output", "out_type")
        .output("min_output", F32)
        .output("max_output", F32)
        .attr("Tinput", OneOf(QUANTA))
        .attr("Tfilter", OneOf(QUANTA))
        .attr("out_type", OneOf(QUANTA).or(QI32))
        .attr("strides", IntList)
        .attr("padding", Words(&["SAME", "VALID"]))
        .attr("dilations", IntList.or(vec![1i64; 4]))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(100.0)))
        .gradient(Gradient::Missing(NO_SLOPE))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    infer_ends(cx, 2)?;
    let shape = infer_convolved(cx, &cx.with_rank(0, 4)?, 1)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, filter) = ((end(cx, 2)?, end(cx, 3)?), (end(cx, 4)?, end(cx, 5)?));
    let dtypes = [cx.input(0).dtype(), cx.input(1).dtype()];
    if let Some(other) = dtypes.into_iter().find(|dtype| *dtype != QU8) {
        return Err(takes_bytes(cx.node.op.name, other));
    }
    let to = cx.attrs().dtype("out_type")?;
    ensure!(to == QI32, "`out_type` is {to}, but a convolution of bytes has integers of 32 bits: qint32");
    // Cells beyond the image are zero, as its floats are. In TensorFlow they are not, if the range of `input`
    // does not hold zero.
    let (images, by) = (centered(cx.input(0), input)?, centered(cx.input(1), filter)?);
    let sums = convolved(cx, images, &by)?;
    cx.set(0, as_quanta(&sums)?);
    set_ends(cx, range_of_products(input, filter));
    Ok(())
}

cases! {
    of_bytes: "QuantizedConv2D(qu8[1,1,3,1] [[[[1] [2] [3]]]], qu8[1,2,1,1] [[[[1]] [[10]]]], 0.0, 255.0, 0.0, 255.0; strides={1, 1, 1, 1}, padding=\"VALID\") = qi32[1,1,2,1] [[[[21] [32]]]], -2147483648.0, 2147483648.0",
    beyond_the_image: "QuantizedConv2D(qu8[1,1,2,1] [[[[129] [127]]]], qu8[1,2,1,1] [[[[1]] [[10]]]], -128.0, 127.0, 0.0, 255.0; strides={1, 1, 1, 1}, padding=\"SAME\") = qi32[1,1,2,1] [[[[-9] [-1]]]], -2147483648.0, 2147483648.0",
    infers: "QuantizedConv2D(qu8[?,8,?,3], qu8[3,3,3,16], f32[], f32[], f32[], f32[]; strides={1, 2, 2, 1}, padding=\"SAME\") : qi32[?,4,?,16], f32[], f32[]",
    depths_agree: "QuantizedConv2D(qu8[1,5,5,3], qu8[3,3,2,1], f32[], f32[], f32[], f32[]; strides={1, 1, 1, 1}, padding=\"VALID\") ! Depth of input (3) is not a multiple of input depth of filter (2)",
    scalar_ends: "QuantizedConv2D(qu8[1,5,5,3], qu8[3,3,3,1], f32[1], f32[], f32[], f32[]; strides={1, 1, 1, 1}, padding=\"VALID\") ! must be rank 0 but is rank 1",
    bytes_alone: "QuantizedConv2D(qi8[1,1,1,1] [[[[1]]]], qu8[1,1,1,1] [[[[1]]]], 0.0, 1.0, 0.0, 1.0; strides={1, 1, 1, 1}, padding=\"VALID\") ! it takes quint8",
}
