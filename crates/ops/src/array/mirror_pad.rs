//! `MirrorPad`: pads a tensor with its own mirror image.

use super::gather::take_along;
use super::paddings::{Paddings, infer};
use millstream_graph::op::spec::{AnyType, IndexType, Spec, Words};
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Result, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("MirrorPad")
        .doc(
            "Pads `input` with its mirror image. Mode `REFLECT` leaves out the border element \
             (`3 2 [1 2 3] 2 1`); mode `SYMMETRIC` repeats it (`2 1 [1 2 3] 3 2`).",
        )
        .input("input", "T")
        .input("paddings", "Tpaddings")
        .on_host()
        .output("output", "T")
        .attr("T", AnyType)
        .attr("Tpaddings", IndexType.or(DType::I32))
        .attr("mode", Words(&["REFLECT", "SYMMETRIC"]))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let input = cx.take(0);
    let out = mirrored(cx, input, cx.input(1))?;
    cx.set(0, out);
    Ok(())
}

/// Pads a tensor with its mirror image, as the node's `mode` says.
pub(crate) fn mirrored(cx: &KernelCx, input: Tensor, paddings: &Tensor) -> Result<Tensor> {
    let paddings = Paddings::around(paddings, input.shape())?;
    // The number of border elements that the mirror leaves out.
    let skip = usize::from(&**cx.attrs().str("mode")? == b"REFLECT");
    let mut out = input;
    for (axis, &(before, after)) in paddings.0.iter().enumerate() {
        let len = out.shape()[axis];
        if (before, after) == (0, 0) {
            continue;
        }
        let most = len.saturating_sub(skip);
        ensure!(
            before <= most && after <= most,
            "paddings must be {}: {before}, {after} {} {len}",
            if skip == 1 { "less than the dimension size" } else { "no greater than the dimension size" },
            if skip == 1 { "not less than" } else { "greater than" };
            "`paddings` [{before}, {after}] of axis {axis} must not be over {most}: the axis has size {len}"
        );
        let padded = crate::shared::axes::replaced(
            out.shape(),
            axis,
            len.saturating_add(before).saturating_add(after),
        );
        if padded.checked_elements()? == 0 {
            // An empty tensor may have axes too long to list.
            out = crate::shared::axes::empty(out.dtype(), padded)?;
            continue;
        }
        let left = (0..before).rev().map(|i| i + skip);
        let right = (0..after).map(|i| len - 1 - skip - i);
        let places = Charged::of(left.chain(0..len).chain(right))?;
        out = take_along(&out, axis, &places)?;
    }
    Ok(out)
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, paddings) = (cx.grad(0), cx.input(1));
    let mode = cx.attrs().str("mode")?.text();
    cx.give(0, cx.op("MirrorPadGrad").input(dy).input(paddings).attr("mode", &*mode).output());
    Ok(())
}

cases! {
    reflects: "MirrorPad([1 2 3], [[2 1]]; mode=\"REFLECT\") = [3 2 1 2 3 2]",
    symmetric: "MirrorPad([1 2 3], [[2 3]]; mode=\"SYMMETRIC\") = [2 1 1 2 3 3 2 1]",
    a_matrix: "MirrorPad([[1 2] [3 4]], i64 [[1 0] [0 1]]; mode=\"REFLECT\") = [[3 4 3] [1 2 1] [3 4 3]]",
    nothing: "MirrorPad([1 2 3], [[0 0]]; mode=\"REFLECT\") = [1 2 3]",
    infers: "MirrorPad(f32[?,3], [[1 1] [0 2]]; mode=\"REFLECT\") : f32[?,5]",
    too_wide: "MirrorPad([1 2 3], [[3 0]]; mode=\"REFLECT\") ! must not be over 2",
    mode_is_checked: "MirrorPad([1 2 3], [[1 0]]; mode=\"MIRROR\") ! must be one of REFLECT, SYMMETRIC",
}
