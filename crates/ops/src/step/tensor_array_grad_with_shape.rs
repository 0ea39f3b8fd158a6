//! `TensorArrayGradWithShape`: `TensorArrayGradV3` for several gradients at once.

use super::tensor_arrays::{By, HandleArg, array, flow_on, handle_to, kernel};
use millstream_graph::op::spec::Text;
use millstream_graph::op::{Gradient, InferCx, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Shape, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorArrayGradWithShape")
        .doc(
            "Returns a gradient TensorArray as TensorArrayGradV3 does, whose elements have the dimensions \
             `shape_to_prepend` before their own.",
        )
        .handle_in(By::Resource, "handle")
        .input("flow_in", DType::F32)
        .input("shape_to_prepend", DType::I32)
        .on_host()
        .handle_out(By::Resource, "grad_handle")
        .output("flow_out", DType::F32)
        .attr("source", Text)
        .infer(infer)
        .kernel(kernel(run))
        .gradient(Gradient::none("as in TensorFlow, it only finds an array"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    cx.vector(2)?;
    cx.set(1, PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    ensure!(
        cx.input(2).rank() == 1,
        "`shape_to_prepend` must be a vector but has shape {}",
        cx.input(2).shape()
    );
    let prepended = Shape::from_signed(&cx.ints(2)?)?;
    let gradient = array(cx)?.gradient(&cx.attrs().str("source")?.text(), &prepended)?;
    let handle = handle_to(cx, gradient)?;
    cx.set(0, handle);
    flow_on(cx, 1, 1);
    Ok(())
}

cases! {
    prepends: "a f <- TensorArrayV3(2; dtype=i32) | g h <- TensorArrayGradWithShape(a, TensorArrayWriteV3(a, 0, [1 2], f), i32[1] [3]; source=\"s\") \
               | TensorArrayReadV3(g, 0, h; dtype=i32) = [[0 0] [0 0] [0 0]]",
    infers: "TensorArrayGradWithShape(resource[], f32[], i32[?]; source=\"s\") : resource[..], f32[]",
    not_negative: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayGradWithShape(a, f, i32[1] [-1]; source=\"s\") ! is negative",
}
