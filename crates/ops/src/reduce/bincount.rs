//! `Bincount`: the number of occurrences of each small integer.

use crate::number::{Number, no_kernel};
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::*;
use millstream_tensor::{PartialShape, Result, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("Bincount")
        .doc(
            "Counts how often each of `0..size` occurs in `arr`, or sums the `weights` of its occurrences \
             if these are not empty. Values of `size` or more are ignored.",
        )
        .input("arr", I32)
        .input("size", I32)
        .on_host()
        .input("weights", "T")
        .output("bins", "T")
        .attr("T", OneOf(&[I32, I64, F32, F64]))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::none("a count; UnsortedSegmentSum of the weights has a gradient"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    let size = match cx.int(1) {
        Some(size) => Some(usize::try_from(size).map_err(|_| negative(size))?),
        None => None,
    };
    cx.set(0, PartialShape::new([size]));
    Ok(())
}

fn negative(size: i64) -> millstream_tensor::Error {
    invalid!("`size` is {size} but must not be negative")
}

fn run(cx: &mut KernelCx) -> Result<()> {
    ensure!(cx.input(1).rank() == 0, "`size` must be a scalar but has shape {}", cx.input(1).shape());
    let size = cx.int(1)?;
    let size = usize::try_from(size).map_err(|_| negative(size))?;
    let (arr, weights) = (cx.input(0), cx.input(2));
    ensure!(
        weights.elements() == 0 || weights.shape() == arr.shape(),
        "`weights` has shape {} but must have that of `arr`, {}, or be empty",
        weights.shape(),
        arr.shape()
    );
    let out = with_element!(weights.dtype(), T in [I32 I64 F32 F64] => count::<T>(arr, size, weights), else => Err(no_kernel("Bincount", weights.dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn count<T: Number>(arr: &Tensor, size: usize, weights: &Tensor) -> Result<Tensor> {
    let (arr, weights) = (arr.as_slice::<i32>()?, weights.as_slice::<T>()?);
    let mut out = Tensor::zeros(T::DTYPE, [size])?;
    let bins = out.make_mut_or_copy::<T>()?;
    for (i, &value) in arr.iter().enumerate() {
        let bin = usize::try_from(value).map_err(|_| invalid!("Input arr must be non-negative!"; "`arr` has the value {value}, which must not be negative"))?;
        if let Some(bin) = bins.get_mut(bin) {
            *bin = bin.add(weights.get(i).copied().unwrap_or(T::ONE));
        }
    }
    Ok(out)
}

cases! {
    counts: "Bincount([1 2 2 9], 4, i32[0] []) = [0 1 2 0]",
    weighs: "Bincount([1 2 2], 4, [1.0 2.0 3.0]) = [0.0 1.0 5.0 0.0]",
    no_bins: "Bincount([1], 0, i32[0] []) = i32[0] []",
    shape: "Bincount(i32[?], 7, f32[0]) : f32[7]",
    unknown_size: "Bincount(i32[?], i32[], f32[0]) : f32[?]",
    no_negative_values: "Bincount([-1], 4, i32[0] []) ! `arr` has the value -1",
    no_negative_size: "Bincount([1], -4, i32[0] []) ! `size` is -4",
    weights_fit: "Bincount([1 2], 4, [1 2 3]) ! `weights` has shape [3]",
}
