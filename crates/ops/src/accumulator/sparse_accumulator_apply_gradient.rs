//! `SparseAccumulatorApplyGradient`: adds rows of a gradient to an accumulator.

use super::accumulators::{accumulator, user};
use crate::number::{Num as _, no_kernel};
use crate::shared::elementwise::fresh;
use crate::shared::handles::{By, one_handle};
use millstream_graph::op::spec::{Bool, Number};
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_state::Gathered;
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{DType, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element};
use smallvec::SmallVec;

pub(crate) fn def() -> OpDef {
    user("SparseAccumulatorApplyGradient", By::Reference)
        .doc(
            "Adds rows of a gradient to the accumulator, unless `local_step` is less than the accumulator's \
             step. Row `i` of `gradient_values` belongs to row `gradient_indices[i]` of the whole gradient, \
             whose shape is `gradient_shape` if `has_known_shape` is true. Indices ascend.",
        )
        .input("local_step", DType::I64)
        .input("gradient_indices", DType::I64)
        .input("gradient_values", "dtype")
        .input("gradient_shape", DType::I64)
        .attr("dtype", Number)
        .attr("has_known_shape", Bool)
        .infer(|cx| {
            cx.scalar(1)?;
            one_handle(cx)
        })
        .kernel(Kernel::stateful(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (accumulator, step) = (accumulator(cx, true)?, cx.int(1)?);
    let (held, given) = (accumulator.spec().dtype, cx.input(3).dtype());
    ensure!(given == held, "{accumulator:?} gathers {held}, not {given}");
    // Rows of a step that is over are dropped unseen, as in TensorFlow.
    accumulator.apply(step, |sum| {
        let rows = Rows::of(cx, &accumulator.spec().shape)?;
        *sum = Some(rows.added_to(sum)?);
        Ok(())
    })
}

/// Rows of a gradient, checked.
struct Rows {
    places: SmallVec<[i64; 8]>,
    values: Tensor,
    /// The shape of the whole gradient, or empty.
    told: Vec<i64>,
}

impl Rows {
    /// The rows in the node's inputs, for an accumulator of this shape.
    fn of(cx: &KernelCx, shape: &PartialShape) -> Result<Rows> {
        ensure!(
            cx.input(2).rank() == 1,
            "Input indices should be vector but received shape: {}",
            cx.input(2).shape()
        );
        let (places, values, whole) = (cx.ints(2)?, cx.input(3).clone(), cx.ints(4)?);
        let Some((&n, row)) = values.shape().split_first() else {
            return Err(invalid!("Values cannot be 0-dimensional."));
        };
        ensure!(n != 0, "Must have at least one index");
        ensure!(
            n == places.len(),
            "Expected {} non-empty input values, got {n}",
            places.len();
            "Number of values must match number of indices, but are {n} and {}",
            places.len()
        );
        let known = shape.dims().map(<[_]>::to_vec);
        let told = if cx.attrs().bool("has_known_shape")? { whole.to_vec() } else { Vec::new() };
        if let Some(dims) = &known {
            let fits = dims.len() == row.len() + 1
                && dims[1..].iter().zip(row).all(|(k, d)| k.is_none_or(|k| k == *d));
            let fits_told = told.is_empty()
                || (told.len() == dims.len()
                    && dims.iter().zip(&told).all(|(k, d)| k.is_none_or(|k| k as i64 == *d)));
            ensure!(fits, "Shape mismatch: expected values of shape {shape}, got {}", values.shape());
            ensure!(
                fits_told,
                "Shape mismatch: expected shape {shape}, got {}",
                Shape::new(told.iter().map(|&d| d.max(0) as usize))
            );
        }
        let limit = told.first().copied().or(known.and_then(|dims| dims[0]).map(|d| d as i64));
        for &place in &places {
            ensure!(0 <= place, "Indices must be non-negative, but one is {place}");
            ensure!(
                limit.is_none_or(|limit| place < limit),
                "Shape mismatch: index of slice to be added is too large: {place}"
            );
        }
        Ok(Rows { places, values, told })
    }

    /// The sum of these rows and the sum so far.
    fn added_to(self, sum: &Option<Gathered>) -> Result<Gathered> {
        let Rows { places, values, told } = self;
        let row = &values.shape()[1..];
        Ok(match sum {
            Some(Gathered::Sparse { indices, values: old, counts, shape }) => {
                ensure!(
                    old.shape()[1..] == *row,
                    "Shape mismatch: expected values shape {}, got {}",
                    old.shape(),
                    values.shape()
                );
                let shape = if shape.is_empty() { told } else { shape.clone() };
                let (indices, counts, values) = merged((indices, counts, old), (&places, &values))?;
                Gathered::Sparse { indices, values, counts, shape }
            }
            _ => Gathered::Sparse {
                counts: Charged::of(std::iter::repeat_n(1, places.len()))?,
                indices: Charged::copy_of(&places)?,
                values,
                shape: told,
            },
        })
    }
}

/// Returns the rows of both, in the order of their places; rows of one place are added.
fn merged(
    (old_places, old_counts, old): (&[i64], &[u32], &Tensor),
    (places, new): (&[i64], &Tensor),
) -> Result<(Charged<i64>, Charged<u32>, Tensor)> {
    let mut rows: Charged<(i64, u32, Option<usize>, Option<usize>)> = Charged::new();
    let (mut i, mut j, mut pace) = (0, 0, Pace::new());
    while i < old_places.len() || j < places.len() {
        let (a, b) = (old_places.get(i).copied(), places.get(j).copied());
        let takes_old = b.is_none_or(|b| a.is_some_and(|a| a <= b));
        let takes_new = a.is_none_or(|a| b.is_some_and(|b| b <= a));
        let place = if takes_old { a } else { b };
        pace.spend(1)?;
        let count = if takes_old { old_counts[i] } else { 0 } + u32::from(takes_new);
        rows.push((place.unwrap_or(0), count, takes_old.then_some(i), takes_new.then_some(j)))?;
        i += usize::from(takes_old);
        j += usize::from(takes_new);
    }
    let width: usize = new.shape()[1..].iter().product();
    let shape = Shape::new(std::iter::once(rows.len()).chain(new.shape()[1..].iter().copied()));
    let mut out = Tensor::zeros(new.dtype(), shape)?;
    with_element!(new.dtype(), T in numbers => {
        let (x, y) = (old.as_slice::<T>()?, new.as_slice::<T>()?);
        let cells = fresh::<T>(&mut out)?;
        for (k, (.., i, j)) in rows.iter().enumerate() {
            pace.spend(1 + width)?;
            let cells = &mut cells[k * width..][..width];
            for (part, at) in [(x, i), (y, j)] {
                if let Some(at) = at {
                    cells.iter_mut().zip(&part[at * width..]).for_each(|(c, v)| *c = c.add(*v));
                }
            }
        }
        Ok(())
    }, else => Err(no_kernel("SparseAccumulatorApplyGradient", new.dtype())))?;
    Ok((Charged::of(rows.iter().map(|r| r.0))?, Charged::of(rows.iter().map(|r| r.1))?, out))
}

cases! {
    adds: "SparseAccumulatorApplyGradient(SparseConditionalAccumulator(; dtype=f32), i64 0, i64[2] [0 2], [[1.0] [2.0]], i64[2] [3 1]; has_known_shape=true) =",
    infers: "SparseAccumulatorApplyGradient(SparseConditionalAccumulator(; dtype=f32), i64[], i64[?], f32[?,2], i64[?]; has_known_shape=false) :",
    within: "SparseAccumulatorApplyGradient(SparseConditionalAccumulator(; dtype=f32), i64 0, i64[1] [3], [[1.0]], i64[2] [3 1]; has_known_shape=true) ! index of slice to be added is too large",
    as_many: "SparseAccumulatorApplyGradient(SparseConditionalAccumulator(; dtype=f32), i64 0, i64[2] [0 1], [[1.0]], i64[2] [3 1]; has_known_shape=true) ! Number of values must match number of indices",
    not_of_a_step_that_is_over: "SparseAccumulatorApplyGradient(SparseConditionalAccumulator(; dtype=f32), i64 -1, i64[1] [3], [[1.0]], i64[2] [3 1]; has_known_shape=true) =",
    some: "SparseAccumulatorApplyGradient(SparseConditionalAccumulator(; dtype=f32), i64 0, i64[0] [], f32[0,1] [], i64[2] [3 1]; has_known_shape=true) ! Must have at least one index",
}
