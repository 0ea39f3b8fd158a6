//! `CompareAndBitpack`: comparisons with a threshold, eight to a byte.

use crate::number::no_kernel;
use crate::shared::axes::replaced;
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::*;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Dim, Element, PartialShape, Result, Tensor, ensure, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("CompareAndBitpack")
        .doc(
            "Compares each element with `threshold`, and packs eight results along the last axis into a byte: a \
             bit is 1 if the element is greater, and the first element is the highest bit. A bool is its own bit. \
             The size of the last axis must be a multiple of 8.",
        )
        .input("input", "T")
        .input("threshold", "T")
        .output("output", U8)
        .attr("T", OneOf(&[Bool, F16, F32, F64, I8, I16, I32, I64]))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.at_least_rank(0, 1)?;
    cx.scalar(1)?;
    if let Some([outer @ .., n]) = cx.input(0).dims() {
        ensure!(
            n.is_none_or(|n| n.is_multiple_of(8)),
            "Dimension size must be evenly divisible by 8 but is {}", n.unwrap_or(0);
            "`input` has shape {}: its last axis must be a multiple of 8", cx.input(0)
        );
        let bytes: Dim = n.map(|n| n / 8);
        cx.set(0, PartialShape::new(outer.iter().copied().chain([bytes])));
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, threshold) = (cx.input(0), cx.input(1));
    let shape = input.shape();
    ensure!(
        shape.rank() > 0,
        "Input should be at least a vector, but saw a scalar."; "`input` is a scalar"
    );
    ensure!(
        threshold.rank() == 0,
        "Compare must be a scalar, but saw shape: {}", threshold.shape();
        "`threshold` has shape {}", threshold.shape()
    );
    let last = shape.rank() - 1;
    ensure!(
        shape[last].is_multiple_of(8),
        "Inner dimension of input should be divisible by 8, but saw shape: {shape}";
        "`input` has shape {shape}: its last axis must be a multiple of 8"
    );
    let mut out = Tensor::zeros(U8, replaced(shape, last, shape[last] / 8))?;
    let cells = fresh::<u8>(&mut out)?;
    match input.dtype() {
        Bool => pack(input.as_slice::<bool>()?, cells, |x| *x)?,
        dtype => with_element!(dtype, T in reals => {
            let than: T = threshold.to_scalar()?;
            pack(input.as_slice::<T>()?, cells, |x| *x > than)
        }, else => Err(no_kernel("CompareAndBitpack", dtype)))?,
    }
    cx.set(0, out);
    Ok(())
}

fn pack<T: Element>(input: &[T], out: &mut [u8], is_set: impl Fn(&T) -> bool) -> Result<()> {
    let mut pace = Pace::new();
    for (eight, byte) in input.chunks_exact(8).zip(out) {
        pace.spend(8)?;
        *byte = eight.iter().fold(0, |byte, x| byte << 1 | u8::from(is_set(x)));
    }
    Ok(())
}

cases! {
    packs: "CompareAndBitpack([1.0 2.0 3.0 4.0 nan 6.0 7.0 -8.0], 3.0) = u8[1] [22]",
    bools: "CompareAndBitpack([true true true false false false false false], false) = u8[1] [224]",
    rows: "CompareAndBitpack([[1 2 3 4 5 6 7 8 9 9 9 9 9 9 9 9]], 4) = u8[1,2] [[15 255]]",
    nothing: "CompareAndBitpack(f32[2,0] [], 1.0) = u8[2,0] []",
    infers: "CompareAndBitpack(f32[?,16], f32[]) : u8[?,2]",
    eights: "CompareAndBitpack([1 2 3], 1) ! must be a multiple of 8",
    no_scalar: "CompareAndBitpack(1, 1) ! rank",
    one_threshold: "CompareAndBitpack([1 2 3 4 5 6 7 8], [1]) ! rank",
}
