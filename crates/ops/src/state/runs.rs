//! Changing parts of a value: runs of elements, each given by where it starts.

use crate::array::entry;
use crate::number::{Number, with_number, with_real};
use millstream_tensor::{Element, Error, Result, Tensor, ensure, invalid};
use smallvec::SmallVec;

/// How new elements meet the old ones.
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

/// What messages call the op: the update, whichever op it is for.
const OP: &str = "this update";

/// Where runs start.
pub(crate) type Starts = SmallVec<[usize; 8]>;

/// Where the rows that `indices` name start, in a tensor of `rows` rows of `run` elements. All are checked first.
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

/// Brings `updates` into the runs of `value`: one run of updates per start, or one element for all. In place when nobody
/// shares the value. Nothing is changed if anything is wrong.
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
        How::Add => with_number!(OP, dtype, T => each::<T>(value, starts, run, updates, T::plus)),
        How::Sub => with_number!(OP, dtype, T => each::<T>(value, starts, run, updates, T::minus)),
        How::Mul => with_number!(OP, dtype, T => each::<T>(value, starts, run, updates, T::times)),
        How::Div => with_number!(OP, dtype, T => {
            let zero = dtype.is_integer() && updates.as_slice::<T>()?.contains(&T::ZERO);
            ensure!(!zero, "`updates` divides by 0");
            each::<T>(value, starts, run, updates, T::over)
        }),
        // As the C++ library's: the old element stays where neither is less, so also where one is NaN.
        How::Min => {
            with_real!(OP, dtype, T => each::<T>(value, starts, run, updates, |a, b| if b < a { b } else { a }))
        }
        How::Max => {
            with_real!(OP, dtype, T => each::<T>(value, starts, run, updates, |a, b| if a < b { b } else { a }))
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
