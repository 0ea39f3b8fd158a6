//! `MirrorPadGrad`: the gradient of `MirrorPad`.

use crate::number::{Number, no_kernel};
use crate::shared::axes::{ints, product, replaced};
use millstream_graph::op::spec::{AnyType, IndexType, Spec, Words};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("MirrorPadGrad")
        .doc("Removes the margins that MirrorPad added, and adds their elements to those that they mirror.")
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

fn infer(cx: &mut InferCx) -> Result<()> {
    let paddings = cx.with_rank(1, 2)?;
    let Some(rank) = cx.input(0).rank().or(paddings.dim(0)).filter(|r| *r <= millstream_tensor::MAX_RANK)
    else {
        return Ok(());
    };
    let mut shape = PartialShape::unknown_of_rank(rank);
    if let (Some(dims), Some(given)) = (cx.input(0).dims(), cx.ints(1)) {
        ensure!(given.len() == 2 * rank, "`paddings` has shape {paddings} but must have [{rank},2]");
        let inner = dims.iter().zip(given.chunks_exact(2)).map(|(dim, p)| match dim {
            Some(dim) => inner(*dim, p).map(|(_, len)| Some(len)),
            None => Ok(None),
        });
        shape = PartialShape::new(inner.collect::<Result<Vec<_>>>()?);
    }
    cx.set(0, shape);
    Ok(())
}

/// Returns the offset of an axis inside its margins, and its size.
fn inner(dim: usize, padding: &[i64]) -> Result<(usize, usize)> {
    let (before, after) = (usize::try_from(padding[0]), usize::try_from(padding[1]));
    let (Ok(before), Ok(after)) = (before, after) else {
        return Err(invalid!("`paddings` {padding:?} must not be negative"));
    };
    match before.checked_add(after).and_then(|margins| dim.checked_sub(margins)) {
        Some(len) => Ok((before, len)),
        None => Err(invalid!("`paddings` {padding:?} exceed the axis, which has size {dim}")),
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let paddings = cx.input(1);
    let rank = cx.input(0).rank();
    ensure!(
        paddings.shape()[..] == [rank, 2],
        "`paddings` has shape {} but must have [{rank},2]",
        paddings.shape()
    );
    let given = ints(paddings)?;
    let skip = usize::from(&**cx.attrs().str("mode")? == b"REFLECT");
    let mut out = cx.take(0);
    for (axis, padding) in given.chunks_exact(2).enumerate() {
        let (before, len) = inner(out.shape()[axis], padding)?;
        let after = out.shape()[axis] - len - before;
        let most = len.saturating_sub(skip);
        ensure!(
            before <= most && after <= most,
            "`paddings` {padding:?} of axis {axis} must not be over {most}: without them the axis has size {len}"
        );
        if before + after > 0 {
            out = with_element!(out.dtype(), T in numbers => fold::<T>(&out, axis, before, len, skip), else => Err(no_kernel("MirrorPadGrad", out.dtype())))?;
        }
    }
    cx.set(0, out);
    Ok(())
}

fn fold<T: Number>(x: &Tensor, axis: usize, before: usize, len: usize, skip: usize) -> Result<Tensor> {
    let shape = x.shape();
    let (whole, run) = (shape[axis], product(&shape[axis + 1..]));
    let mut out = Tensor::zeros(T::DTYPE, replaced(shape, axis, len))?;
    if out.elements() == 0 {
        return Ok(out);
    }
    let planes = crate::shared::elementwise::fresh::<T>(&mut out)?.chunks_exact_mut(len * run);
    for (out, x) in planes.zip(x.as_slice::<T>()?.chunks_exact(whole * run)) {
        for (i, row) in x.chunks_exact(run).enumerate() {
            // The position that this row mirrors.
            let at = match i {
                i if i < before => before - 1 - i + skip,
                i if i < before + len => i - before,
                i => len - 1 - skip - (i - before - len),
            };
            out[at * run..(at + 1) * run].iter_mut().zip(row).for_each(|(o, v)| *o = o.add(*v));
        }
    }
    Ok(out)
}

// The op sums what MirrorPad copies, so MirrorPad is its gradient.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, paddings) = (cx.grad(0), cx.input(1));
    let mode = cx.attrs().str("mode")?.text();
    cx.give(0, cx.op("MirrorPad").input(dy).input(paddings).attr("mode", &*mode).output());
    Ok(())
}

cases! {
    reflects: "MirrorPadGrad([1 2 3 4 5], [[2 0]]; mode=\"REFLECT\") = [3 6 6]",
    symmetric: "MirrorPadGrad([[1 2 3] [4 5 6]], [[0 1] [1 0]]; mode=\"SYMMETRIC\") = [[12 9]]",
    nothing: "MirrorPadGrad([1 2], [[0 0]]; mode=\"REFLECT\") = [1 2]",
    infers: "MirrorPadGrad(f32[?,5], [[1 1] [0 2]]; mode=\"REFLECT\") : f32[?,3]",
    too_wide: "MirrorPadGrad([1 2 3], [[2 0]]; mode=\"REFLECT\") ! must not be over 0",
    too_much: "MirrorPadGrad([1 2 3], [[2 2]]; mode=\"REFLECT\") ! exceed the axis, which has size 3",
}
