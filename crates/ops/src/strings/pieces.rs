//! The sparse matrix of the splitting ops: a row of pieces for each string.

use crate::shared::strings::{scalar, strs};
use millstream_graph::op::{InferCx, KernelCx};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{PartialShape, Result, Str, Tensor, ensure};

/// Sets outputs 0 to 2 to the indices, pieces and shape of the matrix. `split` splits each string of input 0
/// at the separator in input 1.
pub(super) fn run(
    cx: &mut KernelCx,
    split: impl for<'s> Fn(&'s [u8], &[u8]) -> Result<Charged<&'s [u8]>>,
) -> Result<()> {
    ensure!(cx.input(0).rank() == 1, "input must be a vector, got shape: {}", cx.input(0).shape(); "`input` must be a vector but has shape {}", cx.input(0).shape());
    let strings = strs(cx, 0)?;
    let words = || format!("{} must be a scalar, got shape: {}", cx.name_of(1), cx.input(1).shape());
    let separator = scalar(cx, 1).map_err(|e| e.led_by(words()))?;
    let (mut places, mut values, mut widest) = (Charged::new(), Charged::new(), 0);
    let mut pace = Pace::new();
    for (row, string) in strings.iter().enumerate() {
        let pieces = split(string, separator)?;
        widest = widest.max(pieces.len());
        for (column, piece) in pieces.iter().enumerate() {
            pace.spend(2)?;
            places.extend_from_slice(&[row as i64, column as i64])?;
            values.push(Str::new(*piece)?)?;
        }
    }
    let shape = [strings.len() as i64, widest as i64];
    let count = values.len();
    cx.set(0, Tensor::from_slice([count, 2], &places)?);
    cx.set(1, Tensor::strings([count], values.take())?);
    cx.set(2, Tensor::vector(&shape)?);
    Ok(())
}

/// The inputs are a vector of strings and a scalar separator; the outputs are a sparse matrix.
pub(super) fn infer(cx: &mut InferCx) -> Result<()> {
    cx.vector(0)?;
    cx.scalar(1)?;
    cx.set(0, [None, Some(2)]);
    cx.set(1, PartialShape::unknown_of_rank(1));
    cx.set(2, [2]);
    Ok(())
}
