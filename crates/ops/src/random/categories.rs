//! Sampling of classes with the probabilities given by rows of logits, for the multinomial ops.
//!
//! All rows draw from one stream in turn, two words for each sample, as TensorFlow does on one thread. (If
//! TensorFlow divides many rows among threads, each part starts elsewhere in the stream, so its own results
//! depend on the machine.)

use super::fill::unit_f64;
use crate::number::no_kernel;
use crate::shared::philox::{Philox, Words};
use millstream_graph::op::{InferCx, KernelCx};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, Result, Shape, Tensor, ensure, invalid, with_element};
use num_traits::ToPrimitive;

/// Draws as many classes as input 1 requires for each row of logits in input 0. `philox` returns the
/// generator for a number of rows and samples.
pub(super) fn draw(cx: &KernelCx, philox: impl FnOnce(usize, usize) -> Result<Philox>) -> Result<Tensor> {
    let (rows, classes) = match *cx.input(0).shape().dims() {
        [rows, classes] => (rows, classes),
        _ => {
            let shape = cx.input(0).shape();
            return Err(
                invalid!("logits should be a matrix, got shape {shape}"; "`logits` must have rank 2"),
            );
        }
    };
    let samples = cx.int(1)?;
    let samples = usize::try_from(samples)
        .map_err(|_| invalid!("num_samples should be nonnegative, got {samples}"; "`num_samples` is {samples} but may not be negative"))?;
    ensure!(classes > 0, "num_classes should be positive, got 0"; "`logits` has no classes: its shape is {}", cx.input(0).shape());
    let shape = Shape::new([rows, samples]);
    let outputs = shape.checked_elements()?;
    let dtype = cx.attrs().dtype("output_dtype")?;
    // Checking the size here reports an excessive one before anything is drawn.
    if outputs == 0 {
        return Tensor::zeros(dtype, shape);
    }
    let mut words = Words::new(philox(rows, samples)?);
    with_element!(cx.input(0).dtype(), T in reals => {
        let logits = cx.input(0).as_slice::<T>()?;
        let mut drawn = Charged::<i64>::with_room(outputs)?;
        let mut pace = Pace::new();
        // The samples of a row are drawn before the next row begins.
        for row in logits.chunks(classes) {
            let logits = row.iter().map(|v| ToPrimitive::to_f64(v).unwrap_or(f64::NAN));
            let sums = running_sums(logits, &mut pace)?;
            let total = sums.last().copied().unwrap_or(0.0);
            for _ in 0..samples {
                pace.spend(1)?;
                let (high, low) = (words.word(), words.word());
                let wanted = unit_f64(high, low) * total;
                drawn.push(sums.partition_point(|&s| s <= wanted) as i64)?;
            }
        }
        match dtype {
            DType::I32 => Tensor::from_iter(shape, drawn.iter().map(|&c| c as i32)),
            _ => Tensor::from_slice(shape, &drawn),
        }
    }, else => Err(no_kernel(cx.node.op.name, cx.input(0).dtype())))
}

/// Returns the cumulative probabilities of the classes, not normalized. Logits that are not finite have
/// probability zero.
fn running_sums(logits: impl ExactSizeIterator<Item = f64> + Clone, pace: &mut Pace) -> Result<Charged<f64>> {
    let max = logits.clone().filter(|v| v.is_finite()).fold(f64::MIN, f64::max);
    let (mut sums, mut sum) = (Charged::with_room(logits.len())?, 0.0);
    for v in logits {
        pace.spend(1)?;
        sum += if v.is_finite() { (v - max).exp() } else { 0.0 };
        sums.push(sum)?;
    }
    Ok(sums)
}

/// The output has a row for each row of input 0, of as many samples as input 1 requires.
pub(super) fn infer_outputs(cx: &mut InferCx) -> Result<()> {
    let rows = cx.with_rank(0, 2)?.dim(0);
    cx.scalar(1)?;
    let samples = match cx.int(1) {
        Some(n) => {
            let size = usize::try_from(n);
            Some(size.map_err(|_| invalid!("Dimension size, given by scalar input 1, must be non-negative but is {n}"; "`num_samples` is {n} but may not be negative"))?)
        }
        None => None,
    };
    cx.set(0, [rows, samples]);
    Ok(())
}
