//! [`Entries`]: a sparse tensor in three inputs of an op: a matrix with one index per row, a vector of
//! values, and a shape.

use millstream_graph::op::{InferCx, KernelCx, ints_of};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::sorting::sort;
use millstream_tensor::{DType, Dim, PartialShape, Result, Tensor, ensure, invalid};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// The entries of a sparse tensor. Its shape may be too large for a dense tensor.
pub(super) struct Entries {
    /// The number of entries.
    pub n: usize,
    /// The length of an index.
    pub rank: usize,
    /// The concatenated indices.
    pub indices: SmallVec<[i64; 8]>,
    /// The values, one for each entry.
    pub values: Tensor,
    /// The sizes of the axes, none of which is negative.
    pub shape: SmallVec<[i64; 8]>,
    /// The name of the indices in messages.
    name: &'static str,
}

impl Entries {
    /// Reads a sparse tensor from inputs `i`, `i + 1` and `i + 2`.
    pub fn of(cx: &KernelCx, i: usize) -> Result<Entries> {
        Entries::new(cx, [i, i + 1, i + 2])
    }

    /// Reads indices, values and shape from these inputs. Returns an error unless every index is inside the
    /// shape.
    pub fn new(cx: &KernelCx, places: [usize; 3]) -> Result<Entries> {
        Entries::checked(places.map(|i| cx.input(i)), places.map(|i| cx.name_of(i)))
    }

    /// Makes a sparse tensor of indices, values and shape, with their names in messages. Returns an error
    /// unless every index is inside the shape.
    pub fn checked([indices, values, shape]: [&Tensor; 3], names: [&'static str; 3]) -> Result<Entries> {
        let name = names[0];
        let indices = Indices::checked(indices, name)?;
        ensure!(
            values.shape().dims() == [indices.n],
            "`{}` has shape {} but must have one for each of the {} rows of `{name}`",
            names[1],
            values.shape(),
            indices.n
        );
        ensure!(
            shape.shape().dims() == [indices.rank],
            "`{}` has shape {} but must have a size for each of the {} columns of `{name}`",
            names[2],
            shape.shape(),
            indices.rank
        );
        let sizes = ints_of(shape, names[2])?;
        if let Some(bad) = sizes.iter().find(|d| **d < 0) {
            return Err(invalid!("`{}` has {bad}, which must not be negative", names[2]));
        }
        let Indices { n, rank, indices } = indices;
        let all = Entries { n, rank, indices, values: values.clone(), shape: sizes, name };
        let mut pace = Pace::new();
        for row in 0..n {
            pace.spend(rank)?;
            let inside = all.index(row).iter().zip(&all.shape).all(|(at, size)| (0..*size).contains(at));
            ensure!(inside, "{}, which does not index into shape {:?}", all.says(row), &*all.shape);
        }
        Ok(all)
    }

    /// Returns the index of an entry.
    pub fn index(&self, row: usize) -> &[i64] {
        &self.indices[row * self.rank..(row + 1) * self.rank]
    }

    /// Returns the beginning of a message about an entry.
    pub fn says(&self, row: usize) -> String {
        format!("row {row} of `{}` is {:?}", self.name, self.index(row))
    }

    /// Returns the entries in row-major order. Entries with equal indices keep their order.
    pub fn order(&self) -> Result<Charged<usize>> {
        let mut order = Charged::of(0..self.n)?;
        sort(&mut order, |a, b| self.index(*a).cmp(self.index(*b)))?;
        Ok(order)
    }

    /// Returns an error unless the entries are in row-major order.
    pub fn check_order(&self) -> Result<()> {
        let mut pace = Pace::new();
        for row in 1..self.n {
            pace.spend(self.rank)?;
            ensure!(
                self.index(row - 1) <= self.index(row),
                "{}, which comes before the row above it: put the entries in order with SparseReorder",
                self.says(row)
            );
        }
        Ok(())
    }

    /// Returns the offset of an entry in a dense row-major tensor with these strides.
    pub fn offset(&self, row: usize, strides: &[usize]) -> usize {
        self.index(row).iter().zip(strides).map(|(&at, s)| (at as usize).saturating_mul(*s)).sum()
    }
}

/// The indices of a sparse tensor, without values.
pub(super) struct Indices {
    pub n: usize,
    pub rank: usize,
    pub indices: SmallVec<[i64; 8]>,
}

impl Indices {
    /// Reads a matrix of indices from input `i`.
    pub fn of(cx: &KernelCx, i: usize) -> Result<Indices> {
        Indices::checked(cx.input(i), cx.name_of(i))
    }

    fn checked(t: &Tensor, name: &str) -> Result<Indices> {
        let [n, rank] = t.shape()[..] else {
            return Err(invalid!("`{name}` must be a matrix but has shape {}", t.shape()));
        };
        // A matrix without columns may claim any number of rows.
        ensure!(rank > 0 || n <= 1, "`{name}` has {n} rows but no columns to tell them apart");
        Ok(Indices { n, rank, indices: ints_of(t, name)? })
    }

    /// Returns the index in a row.
    pub fn row(&self, row: usize) -> &[i64] {
        &self.indices[row * self.rank..(row + 1) * self.rank]
    }
}

/// A step in merging two sorted lists of entries: an entry of one list, or two entries with the same index.
#[derive(Clone, Copy)]
pub(super) enum Step {
    First(usize),
    Second(usize),
    Both(usize, usize),
}

/// Merges the entries of `a` and `b` in order. Returns an error unless both are in order.
pub(super) fn together(a: &Entries, b: &Entries) -> Result<Charged<Step>> {
    ensure!(
        a.shape.len() == b.shape.len(),
        "Ranks of the operands must match: got {} and {}",
        a.shape.len(),
        b.shape.len();
        "the operands have shapes {:?} and {:?}",
        &*a.shape,
        &*b.shape
    );
    let differs = a.shape.iter().zip(&*b.shape).position(|(n, m)| n != m);
    let at = differs.unwrap_or_default();
    ensure!(
        differs.is_none(),
        "Operands' shapes do not match: got {} and {} for dimension {at}",
        a.shape[at],
        b.shape[at];
        "the operands must have the same shape, but have {:?} and {:?}",
        &*a.shape,
        &*b.shape
    );
    a.check_order()?;
    b.check_order()?;
    let (mut i, mut j, mut pace) = (0, 0, Pace::new());
    let steps = std::iter::from_fn(|| {
        let step = match (i < a.n, j < b.n) {
            (false, false) => return None,
            (true, false) => Step::First(i),
            (false, true) => Step::Second(j),
            (true, true) => match a.index(i).cmp(b.index(j)) {
                Ordering::Less => Step::First(i),
                Ordering::Greater => Step::Second(j),
                Ordering::Equal => Step::Both(i, j),
            },
        };
        match step {
            Step::First(_) => i += 1,
            Step::Second(_) => j += 1,
            Step::Both(..) => (i, j) = (i + 1, j + 1),
        }
        Some(pace.spend(a.rank).map(|()| step))
    });
    Charged::try_of(steps)
}

/// Returns a matrix of indices as a tensor.
pub(super) fn matrix<'a>(rank: usize, rows: impl ExactSizeIterator<Item = &'a [i64]>) -> Result<Tensor> {
    Tensor::from_iter([rows.len(), rank], rows.flatten().copied())
}

/// Returns sizes as a tensor.
pub(super) fn sizes(shape: &[i64]) -> Result<Tensor> {
    Tensor::vector(shape)
}

/// Returns, for a shape rule, the number of entries and the length of an index in inputs `i`, `i + 1` and
/// `i + 2`.
pub(super) fn inferred(cx: &InferCx, i: usize) -> Result<(Dim, Dim)> {
    inferred_of(cx, [i, i + 1, i + 2])
}

/// As [`inferred`], for any three inputs.
pub(super) fn inferred_of(cx: &InferCx, [i, v, s]: [usize; 3]) -> Result<(Dim, Dim)> {
    let indices = cx.with_rank(i, 2)?;
    let (values, sizes) = (cx.with_rank(v, 1)?, cx.with_rank(s, 1)?);
    let same = |axis: usize, other: &PartialShape, j: usize| match (indices.dim(axis), other.dim(0)) {
        (Some(a), Some(b)) if a != b => Err(invalid!(
            "{} ({a}) and {} ({b}) do not match.",
            if axis == 0 { "Number of elements in index" } else { "Index rank" },
            if axis == 0 { "values" } else { "shape rank" };
            "`{}` has shape {indices} but `{}` has {other}: axis {axis} of the first must be as long as the second",
            cx.name_of(i),
            cx.name_of(j)
        )),
        (a, b) => Ok(a.or(b)),
    };
    Ok((same(0, &values, v)?, same(1, &sizes, s)?))
}

/// Sets the shapes of outputs `i`, `i + 1` and, if there is one, `i + 2` to those of a sparse tensor.
pub(super) fn gives(cx: &mut InferCx, i: usize, n: Dim, rank: Dim) {
    cx.set(i, [n, rank]);
    cx.set(i + 1, [n]);
    if i + 2 < cx.n_outputs() && cx.node().output_types[i + 2].dtype == DType::I64 {
        cx.set(i + 2, [rank]);
    }
}
