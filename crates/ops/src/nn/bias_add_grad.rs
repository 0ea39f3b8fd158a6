//! `BiasAddGrad`: the gradient of a bias, the sum over all axes but that of the channels.

use super::bias_add::{channels, rank_fits};
use crate::number::no_kernel;
use crate::shared::fold::Reduction;
use crate::shared::folds::Sum;
use millstream_graph::op::spec::{self, Spec, Words};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{PartialShape, Result, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("BiasAddGrad")
        .doc(
            "Sums `out_backprop` over all axes but that of the channels: the last axis, or axis 1 if \
             `data_format` is NCHW.",
        )
        .input("out_backprop", "T")
        .output("output", "T")
        .attr("T", spec::Number)
        .attr("data_format", Words(&["NHWC", "NCHW"]).or("NHWC"))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    rank_fits(cx)?;
    let n = match cx.input(0).dims() {
        Some(dims) => dims[channels("out_backprop", cx.attrs(), dims.len())?],
        None => None,
    };
    cx.set(0, PartialShape::new([n]));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let rank = cx.input(0).rank();
    let axis = channels("out_backprop", cx.attrs(), rank)?;
    let reduced: Vec<bool> = (0..rank).map(|i| i != axis).collect();
    let reduction = Reduction::along(cx.take(0), &reduced, false)?;
    let out = with_element!(reduction.dtype(), T in numbers => reduction.fold::<Sum<T>>(), else => Err(no_kernel("BiasAddGrad", reduction.dtype())))?;
    cx.set(0, out);
    Ok(())
}

// A bias is added at every position of its channel.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let shape = cx.shape_of_input(0);
    let second = **cx.attrs().str("data_format")? == *b"NCHW";
    // Broadcasting aligns the channels with the last axis. If they are axis 1, the axes behind it are added
    // as ones.
    let channels = match (second, cx.input_shape(0).rank()) {
        (false, _) | (_, Some(2)) => dy,
        (true, Some(rank)) => {
            cx.op("Reshape").input(dy).input([vec![-1], vec![1; rank - 2]].concat()).output()
        }
        (true, None) => {
            let rank = cx.call("Size", [shape]);
            let ones =
                cx.op("Fill").input(cx.op("Reshape").input(rank - 2).input([1]).output()).input(1).output();
            let kept = cx.op("ConcatV2").input(cx.ints(&[-1])).input(ones).input(0).attr("N", 2).output();
            cx.call("Reshape", [dy, kept])
        }
    };
    cx.give(0, cx.call("BroadcastTo", [channels, shape]));
    Ok(())
}

cases! {
    sums_rows: "BiasAddGrad([[1.0 2.0] [3.0 4.0]]) = [4.0 6.0]",
    channels_first: "BiasAddGrad([[[1 2] [3 4]] [[5 6] [7 8]]]; data_format=\"NCHW\") = [14 22]",
    shape: "BiasAddGrad(f32[?,3]) : f32[3]",
    needs_a_matrix: "BiasAddGrad([1.0]) ! `out_backprop` must have rank 2 or more",
}
