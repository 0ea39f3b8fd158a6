//! Updates of parts of a value: runs of elements, each given by its offset.

use crate::number::{Num, Number, no_kernel};
use crate::shared::axes::entry;
use millstream_tensor::{Element, Error, Result, Tensor, ensure, invalid, with_element};
use smallvec::SmallVec;

/// The operation that merges new elements into old ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Replace,
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
}

/// The name of the op in messages about an unsupported dtype.
const OP: &str = "this update";

/// The offsets of runs.
pub(crate) type Starts = SmallVec<[usize; 8]>;

/// Returns the offsets of the rows in `indices`, in a tensor of `rows` rows of `run` elements. All indices
/// are checked first.
pub(crate) fn row_starts(indices: &Tensor, rows: usize, run: usize) -> Result<Starts> {
    fn each<T: Element + Into<i64>>(indices: &Tensor, rows: usize, run: usize) -> Result<Starts> {
        let start = |(i, &index): (usize, &T)| {
            let index = index.into();
            let row = usize::try_from(index).ok().filter(|row| *row < rows);
            row.map(|row| row * run)
                .ok_or_else(|| invalid!("{} = {index} is not in [0, {rows})", entry("indices", indices.shape(), i); "`indices`[{i}] is {index}, which is not in 0..{rows}"))
        };
        indices.as_slice::<T>()?.iter().enumerate().map(start).collect()
    }
    match indices.as_slice::<i32>() {
        Ok(_) => each::<i32>(indices, rows, run),
        Err(_) => each::<i64>(indices, rows, run),
    }
}

/// Merges `updates` into the runs of `value`: one run of updates for each offset, or one element for all. The
/// update is in place if the value is not shared. On an error, nothing is changed.
pub(crate) fn merge(
    value: &mut Tensor,
    starts: &[usize],
    run: usize,
    updates: &Tensor,
    how: How,
) -> Result<()> {
    let dtype = value.dtype();
    ensure!(updates.dtype() == dtype, "the variable is {dtype} but `updates` is {}", updates.dtype());
    let count = starts.len().checked_mul(run).ok_or_else(|| invalid!("too many updates"))?;
    let spread = updates.rank() == 0;
    ensure!(
        spread || updates.elements() == count,
        "`updates` has {} elements but {count} are to be updated",
        updates.elements()
    );
    if count == 0 {
        return Ok(());
    }
    match how {
        How::Replace if spread => value.scatter_runs(run, starts, &Tensor::fill([count], updates)?),
        How::Replace => value.scatter_runs(run, starts, updates),
        How::Add => {
            with_element!(dtype, T in numbers => each::<T>(value, starts, run, updates, Num::add), else => Err(no_kernel(OP, dtype)))
        }
        How::Sub => {
            with_element!(dtype, T in numbers => each::<T>(value, starts, run, updates, Num::sub), else => Err(no_kernel(OP, dtype)))
        }
        How::Mul => {
            with_element!(dtype, T in numbers => each::<T>(value, starts, run, updates, Num::mul), else => Err(no_kernel(OP, dtype)))
        }
        How::Div => with_element!(dtype, T in numbers => {
            let zero = dtype.is_integer() && updates.as_slice::<T>()?.contains(&T::ZERO);
            ensure!(!zero, "`updates` divides by 0");
            each::<T>(value, starts, run, updates, T::over)
        }, else => Err(no_kernel(OP, dtype))),
        // As in the C++ standard library, the old element is kept if neither is less, which includes NaN.
        How::Min => {
            with_element!(dtype, T in reals => each::<T>(value, starts, run, updates, |a, b| if b < a { b } else { a }), else => Err(no_kernel(OP, dtype)))
        }
        How::Max => {
            with_element!(dtype, T in reals => each::<T>(value, starts, run, updates, |a, b| if a < b { b } else { a }), else => Err(no_kernel(OP, dtype)))
        }
    }
}

fn each<T: Element>(
    value: &mut Tensor,
    starts: &[usize],
    run: usize,
    updates: &Tensor,
    f: impl Fn(T, T) -> T,
) -> Result<()> {
    let updates_are_one = updates.rank() == 0;
    let updates = updates.as_slice::<T>()?;
    let out = value.make_mut_or_copy::<T>()?;
    let outside = || Error::internal("a run that was checked lies outside");
    for (i, &start) in starts.iter().enumerate() {
        let out = out.get_mut(start..start.saturating_add(run)).ok_or_else(outside)?;
        match (updates_are_one, updates) {
            (true, [update]) => out.iter_mut().for_each(|o| *o = f(*o, *update)),
            _ => {
                let row = updates.get(i * run..(i + 1) * run).ok_or_else(outside)?;
                out.iter_mut().zip(row).for_each(|(o, u)| *o = f(*o, *u));
            }
        }
    }
    Ok(())
}
