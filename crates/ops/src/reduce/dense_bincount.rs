//! `DenseBincount`: the number of occurrences of each small integer, also row by row.

use crate::number::{Number, no_kernel};
use crate::shared::elementwise::fresh;
use millstream_graph::op::spec::{Bool, IndexType, OneOf, Spec};
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::*;
use millstream_tensor::{Dim, Error, PartialShape, Result, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> OpDef {
    OpDef::new("DenseBincount")
        .doc(
            "Counts how often each of `0..size` occurs in `input`, a vector, or in each row of a matrix. If \
             `weights` are not empty, it sums those of the occurrences instead; if `binary_output` is true, \
             the result is 1 for what occurs. Values of `size` or more are ignored.",
        )
        .input("input", "Tidx")
        .input("size", "Tidx")
        .on_host()
        .input("weights", "T")
        .output("output", "T")
        .attr("Tidx", IndexType)
        .attr("T", OneOf(&[I32, I64, F32, F64]))
        .attr("binary_output", Bool.or(false))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::none("a count; UnsortedSegmentSum of the weights has a gradient"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let input = cx.input(0);
    ensure!(
        input.rank().is_none_or(|rank| rank <= 2),
        "Shape must be at most rank 2 but is rank {}", input.rank().unwrap_or(0);
        "`input` must be a vector or a matrix but has shape {input}"
    );
    cx.scalar(1)?;
    let size: Dim = match cx.int(1) {
        Some(size) => Some(usize::try_from(size).map_err(|_| negative(size))?),
        None => None,
    };
    cx.set(
        0,
        match input.dims() {
            Some([rows, _]) => PartialShape::new([*rows, size]),
            Some(_) => PartialShape::new([size]),
            None => PartialShape::unknown(),
        },
    );
    Ok(())
}

fn negative(size: i64) -> Error {
    invalid!("size ({size}) must be non-negative"; "`size` is {size} but must not be negative")
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let size = cx.int(1)?;
    let size = usize::try_from(size).map_err(|_| negative(size))?;
    let (input, weights) = (cx.input(0), cx.input(2));
    ensure!(input.rank() <= 2, "Shape must be at most rank 2 but is rank {}", input.rank());
    ensure!(
        weights.elements() == 0 || weights.shape() == input.shape(),
        "`weights` has shape {} but must have that of `input`, {}, or be empty",
        weights.shape(),
        input.shape()
    );
    let binary = cx.attrs().bool("binary_output")?;
    let values = cx.ints(0)?;
    let out = with_element!(weights.dtype(), T in [I32 I64 F32 F64] => count::<T>(input, &values, size, weights, binary), else => Err(no_kernel("DenseBincount", weights.dtype())))?;
    cx.set(0, out);
    Ok(())
}

fn count<T: Number>(
    input: &Tensor,
    values: &[i64],
    size: usize,
    weights: &Tensor,
    binary: bool,
) -> Result<Tensor> {
    let weights = weights.as_slice::<T>()?;
    let (mut out, n_columns) = match *input.shape().dims() {
        [rows, columns] => (Tensor::zeros(T::DTYPE, [rows, size])?, columns),
        _ => (Tensor::zeros(T::DTYPE, [size])?, values.len()),
    };
    let bins = fresh::<T>(&mut out)?;
    for (i, &value) in values.iter().enumerate() {
        let bin = usize::try_from(value).map_err(
            |_| invalid!("Input arr must be non-negative!"; "`input` has the value {value}, which must not be negative"),
        )?;
        if bin < size {
            let bin = &mut bins[i / n_columns * size + bin];
            let weight = weights.get(i).copied().unwrap_or(T::ONE);
            *bin = if binary { T::ONE } else { bin.add(weight) };
        }
    }
    Ok(out)
}

cases! {
    counts: "DenseBincount([1 2 2 9], 4, i32[0] []) = [0 1 2 0]",
    counts_rows: "DenseBincount([[1 2] [2 2]], 3, f32[0] []) = [[0.0 1.0 1.0] [0.0 0.0 2.0]]",
    weighs: "DenseBincount([1 2 2], 4, [1.0 2.0 3.0]) = [0.0 1.0 5.0 0.0]",
    tells_what_occurs: "DenseBincount([1 2 2], 4, i32[0] []; binary_output=true) = [0 1 1 0]",
    shape: "DenseBincount(i32[?,3], 7, f32[0]) : f32[?,7]",
    no_negative_values: "DenseBincount([-1], 4, i32[0] []) ! `input` has the value -1",
    no_negative_size: "DenseBincount([1], -4, i32[0] []) ! `size` is -4",
    of_rows: "DenseBincount(i32[2,2,2], 4, i32[0]) ! `input` must be a vector or a matrix",
}
