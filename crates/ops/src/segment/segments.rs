//! Declarations, shape rules, checks and loops of the segment ops.
//!
//! Sorted segments are runs of rows, so each is one column reduction. Unsorted ones accumulate row by row.

use crate::number::{Num, Number};
use crate::shared::fold::{Fold, fold_columns};
use millstream_graph::op::spec::{Bool, IndexType, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::DType::I32;
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Element, PartialShape, Result, Shape, Tensor, ensure, invalid};
use std::marker::PhantomData;
use std::ops::Range;

/// Returns the declaration of a sorted segment op without its types.
pub(super) fn sorted(name: &'static str, run: RunFn) -> OpDef {
    OpDef::new(name)
        .input("data", "T")
        .input("segment_ids", "Tindices")
        .output("output", "T")
        .attr("Tindices", IndexType)
        .infer(|cx| {
            cx.vector(1)?;
            rows_unknown(cx)
        })
        .kernel(Kernel::pure(run))
}

/// Returns the declaration of an unsorted segment op without its types.
pub(super) fn unsorted(name: &'static str, run: RunFn) -> OpDef {
    OpDef::new(name)
        .input("data", "T")
        .input("segment_ids", "Tindices")
        .input("num_segments", "Tnumsegments")
        .on_host()
        .output("output", "T")
        .attr("Tindices", IndexType)
        .attr("Tnumsegments", IndexType.or(I32))
        .infer(infer_unsorted)
        .kernel(Kernel::pure(run))
}

/// Returns the declaration of a sparse segment op without its types.
pub(super) fn sparse(name: &'static str, run: RunFn) -> OpDef {
    chosen(name, run).infer(|cx| {
        infer_chosen(cx)?;
        rows_unknown(cx)
    })
}

/// As [`sparse`], with the number of segments as an input.
pub(super) fn sparse_counted(name: &'static str, run: RunFn) -> OpDef {
    chosen(name, run)
        .input("num_segments", "Tnumsegments")
        .on_host()
        .attr("Tnumsegments", IndexType.or(I32))
        .infer(|cx| {
            infer_chosen(cx)?;
            rows_counted(cx)
        })
}

fn chosen(name: &'static str, run: RunFn) -> OpDef {
    OpDef::new(name)
        .input("data", "T")
        .input("indices", "Tidx")
        .input("segment_ids", "Tsegmentids")
        .output("output", "T")
        .attr("Tidx", IndexType.or(I32))
        .attr("Tsegmentids", IndexType.or(I32))
        .attr("sparse_gradient", Bool.or(false))
        .kernel(Kernel::pure(run))
}

fn infer_chosen(cx: &InferCx) -> Result<()> {
    cx.vector(1)?;
    cx.vector(2)?;
    cx.merge(1, 2)?;
    Ok(())
}

// The output has the shape of the data, with as many rows as input 3 says.
pub(super) fn rows_counted(cx: &mut InferCx) -> Result<()> {
    cx.scalar(3)?;
    rows_unknown(cx)?;
    let num = cx.int(3).map(|num| count(cx.name_of(3), num)).transpose()?;
    if let Some([_, row @ ..]) = cx.input(0).dims() {
        let shape = PartialShape::new([num].into_iter().chain(row.iter().copied()));
        cx.set(0, shape);
    }
    Ok(())
}

// The output has the shape of the data, with an unknown number of rows.
fn rows_unknown(cx: &mut InferCx) -> Result<()> {
    let data = cx.input(0);
    ensure!(
        data.rank() != Some(0),
        "{}", data.below_rank(1);
        "`{}` must have rank 1 or more but is a scalar", cx.name_of(0)
    );
    if let Some([_, row @ ..]) = data.dims() {
        let shape = PartialShape::new([None].into_iter().chain(row.iter().copied()));
        cx.set(0, shape);
    }
    Ok(())
}

fn infer_unsorted(cx: &mut InferCx) -> Result<()> {
    cx.scalar(2)?;
    let num = match cx.int(2) {
        Some(num) => Some(count("num_segments", num).map_err(|e| {
            e.led_by(format!("Dimension size, given by scalar input 2, must be non-negative but is {num}"))
        })?),
        None => None,
    };
    let (data, ids) = (cx.input(0), cx.input(1));
    if let (Some(data_dims), Some(id_dims)) = (data.dims(), ids.dims()) {
        let fits = id_dims.len() <= data_dims.len()
            && id_dims.iter().zip(data_dims).all(|(a, b)| a.is_none() || b.is_none() || a == b);
        ensure!(fits, "{}", crate::shared::axes::prefix_difference(data, ids); "`data` has shape {data}, which does not start with the shape {ids} of `segment_ids`");
        let row = data_dims[id_dims.len()..].iter().copied();
        let shape = PartialShape::new([num].into_iter().chain(row));
        cx.set(0, shape);
    }
    Ok(())
}

pub(super) fn count(name: &str, num: i64) -> Result<usize> {
    usize::try_from(num).map_err(|_| invalid!("`{name}` is {num} but must not be negative"))
}

/// The runs of equal ids, with the id and the rows of each. Ids must be sorted and not negative.
struct Runs {
    runs: Charged<(usize, Range<usize>)>,
    count: usize,
}

impl Runs {
    fn new(ids: &[i64]) -> Result<Runs> {
        let (mut runs, mut pace) = (Charged::<(usize, Range<usize>)>::new(), Pace::new());
        for (i, &id) in ids.iter().enumerate() {
            pace.spend(1)?;
            let id = usize::try_from(id)
                .map_err(|_| invalid!("Segment id {id} out of range [0, {}), possibly because 'segment_ids' input is not sorted.", ids.last().map_or(0, |last| last.saturating_add(1)); "`segment_ids` has {id} at {i}, which must not be negative"))?;
            match runs.last_mut() {
                Some((last, rows)) if *last == id => rows.end = i + 1,
                Some((last, _)) if id < *last => {
                    return Err(
                        invalid!("segment ids are not increasing"; "`segment_ids` must be sorted but has {id} after {last} at {i}"),
                    );
                }
                _ => runs.push((id, i..i + 1))?,
            }
        }
        let count = match runs.last() {
            Some((last, _)) => {
                last.checked_add(1).ok_or_else(|| invalid!("segment id {last} is too large"))?
            }
            None => 0,
        };
        Ok(Runs { runs, count })
    }
}

/// Returns the output before any segment is computed, `count` rows filled with `gap`, and the number of
/// elements in a row.
fn gaps<T: Element>(data: &Tensor, count: usize, gap: T) -> Result<(Tensor, usize)> {
    let [_, row @ ..] = data.shape().dims() else {
        return Err(invalid!("`data` must have rank 1 or more but is a scalar"));
    };
    let shape = Shape::new([count].into_iter().chain(row.iter().copied()));
    let out = match gap == T::default() {
        true => Tensor::zeros(T::DTYPE, shape)?,
        false => Tensor::fill(shape, &Tensor::scalar(gap))?,
    };
    Ok((out, row.iter().product()))
}

/// Reduces each run of rows with equal ids. Ids without rows give `gap`.
pub(super) fn reduce_sorted<F: Fold<Out = <F as Fold>::In>>(cx: &KernelCx, gap: F::In) -> Result<Tensor> {
    let (data, ids) = (cx.input(0), cx.input(1));
    ensure!(
        ids.rank() == 1 && data.shape().first() == ids.shape().first(),
        "segment_ids should be {}",
        if ids.rank() == 1 { "the same size as dimension 0 of input." } else { "a vector." };
        "`segment_ids` has shape {} but must be a vector with an id for each row of `data`, whose shape is {}",
        ids.shape(),
        data.shape()
    );
    let runs = Runs::new(&cx.ints(1)?)?;
    let (mut out, inner) = gaps(data, runs.count, gap)?;
    let (xs, cells) = (data.as_slice::<F::In>()?, out.make_mut_or_copy::<F::In>()?);
    if inner != 0 {
        let mut pace = Pace::new();
        for (id, rows) in runs.runs.iter() {
            let run = &xs[rows.start * inner..rows.end * inner];
            fold_columns::<F>(run, rows.len(), &mut cells[id * inner..(id + 1) * inner], &mut pace)?;
        }
    }
    Ok(out)
}

/// As [`reduce_sorted`], over the rows of `data` at `indices`. Ids without rows give zeros. If there is an
/// input 3, it is the number of segments.
pub(super) fn reduce_sparse<F: Fold<Out = <F as Fold>::In>>(cx: &KernelCx) -> Result<Tensor> {
    let data = cx.input(0);
    for i in [1, 2] {
        ensure!(
            cx.input(i).rank() == 1,
            "`{}` must be a vector but has shape {}",
            cx.name_of(i),
            cx.input(i).shape()
        );
    }
    let (indices, ids) = (cx.ints(1)?, cx.ints(2)?);
    ensure!(
        indices.len() == ids.len(),
        "segment_ids and indices should have same size.";
        "`indices` has {} entries and `segment_ids` {}: they must have one each per row",
        indices.len(),
        ids.len()
    );
    let num = match cx.n_inputs() {
        4 => Some(number(cx)?),
        _ => None,
    };
    let runs = Runs::new(&ids)?;
    if let Some(num) = num {
        ensure!(
            runs.count <= num,
            "segment ids must be < num_segments";
            "`segment_ids` has {} but `num_segments` is {num}", runs.count - 1
        );
    }
    let (mut out, inner) = gaps(data, num.unwrap_or(runs.count), F::In::default())?;
    let n_rows = data.shape().first().copied().unwrap_or(0);
    let mut starts = Charged::with_room(indices.len())?;
    for (i, &index) in indices.iter().enumerate() {
        let row = usize::try_from(index).ok().filter(|r| *r < n_rows).ok_or_else(|| {
            invalid!(
                "Bad: indices[{i}] == {index} out of range [0, {n_rows})";
                "`indices` has {index} at {i}, but `data` has {n_rows} rows: an index lies in 0..{n_rows}"
            )
        })?;
        starts.push(row * inner)?;
    }
    let cells = out.make_mut_or_copy::<F::In>()?;
    if inner != 0 {
        let mut pace = Pace::new();
        for (id, rows) in runs.runs.iter() {
            let starts = &starts[rows.clone()];
            let picked = data.take_runs([starts.len(), inner], inner, starts)?;
            let cells = &mut cells[id * inner..(id + 1) * inner];
            fold_columns::<F>(picked.as_slice::<F::In>()?, starts.len(), cells, &mut pace)?;
        }
    }
    Ok(out)
}

/// Returns the number of segments in input 3.
fn number(cx: &KernelCx) -> Result<usize> {
    ensure!(
        cx.input(3).rank() == 0,
        "num_segments should be a scalar, not shape {}", cx.input(3).shape();
        "`num_segments` has shape {}", cx.input(3).shape()
    );
    count("num_segments", cx.int(3)?).map_err(|e| e.led_by("segment ids must be >= 0"))
}

/// Folds each row into the output row of its id, which starts as `start`. Rows with negative ids are ignored.
pub(super) fn reduce_unsorted<T: Number>(
    cx: &KernelCx,
    start: T,
    join: impl Fn(T::Wide, T::Wide) -> T::Wide,
) -> Result<Tensor> {
    let (data, ids) = (cx.input(0), cx.input(1));
    ensure!(cx.input(2).rank() == 0, "`num_segments` must be a scalar but has shape {}", cx.input(2).shape());
    let num = cx.int(2)?;
    let num = count("num_segments", num)
        .map_err(|e| e.led_by(format!("Input num_segments == {num} must not be negative.")))?;
    ensure!(
        data.shape().starts_with(ids.shape()),
        "data.shape = {} does not start with segment_ids.shape = {}",
        data.shape(),
        ids.shape();
        "`data` has shape {}, which does not start with the shape {} of `segment_ids`",
        data.shape(),
        ids.shape()
    );
    let row = &data.shape()[ids.rank()..];
    let inner: usize = row.iter().product();
    let shape = Shape::new([num].into_iter().chain(row.iter().copied()));
    let mut out = Tensor::fill(shape.clone(), &Tensor::scalar(start.widen()))?;
    let cells = out.make_mut_or_copy::<T::Wide>()?;
    let xs = data.as_slice::<T>()?;
    let mut pace = Pace::new();
    for (i, id) in cx.ints(1)?.into_iter().enumerate() {
        pace.spend(1 + inner)?;
        if id < 0 {
            continue;
        }
        let id = usize::try_from(id).ok().filter(|id| *id < num).ok_or_else(|| {
            invalid!("{} = {id} is out of range [0, {num})", crate::shared::axes::entry("segment_ids", ids.shape(), i); "`segment_ids` has {id} at {i}, but `num_segments` is {num}: an id lies in 0..{num}, or is negative to leave the row out")
        })?;
        let cells = &mut cells[id * inner..(id + 1) * inner];
        for (c, &x) in cells.iter_mut().zip(&xs[i * inner..]) {
            *c = join(*c, x.widen());
        }
    }
    if T::DTYPE == T::Wide::DTYPE {
        return Ok(out);
    }
    let narrow = out.as_slice::<T::Wide>()?.iter().map(|v| T::narrow(*v));
    Tensor::from_iter(shape, narrow)
}

/// The fold to the sum divided by the count.
pub(super) struct Mean<T>(PhantomData<T>);
/// The fold to the sum divided by the square root of the count.
pub(super) struct SqrtN<T>(PhantomData<T>);

macro_rules! scaled_sums {
    ($($name:ident: |$n:ident| $by:expr;)*) => { $(
        impl<T: Number> Fold for $name<T> {
            type In = T;
            type Out = T;
            type Acc = T::Wide;
            const START: T::Wide = <T::Wide as Number>::ZERO;
            #[inline(always)]
            fn step(acc: T::Wide, x: T) -> T::Wide {
                acc.add(x.widen())
            }
            #[inline(always)]
            fn merge(a: T::Wide, b: T::Wide) -> T::Wide {
                a.add(b)
            }
            #[inline(always)]
            fn finish(acc: T::Wide, $n: usize) -> T {
                T::narrow(acc.over($by))
            }
        }
    )* };
}
scaled_sums! {
    Mean: |n| T::Wide::count(n);
    SqrtN: |n| T::Wide::count(n).root();
}
