//! Splitting a sparse tensor into its rows ([`rows_of`]).

use super::entries::{Entries, inferred, matrix, sizes};
use millstream_graph::op::InferCx;
use millstream_state::Sparse;
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::sorting::sort;
use millstream_tensor::{Dim, Result, ensure, invalid};

/// The shape rule for splitting: returns the number of rows of the sparse tensor in inputs 0 to 2, if it is
/// known.
pub(super) fn inferred_rows(cx: &InferCx) -> Result<Dim> {
    let (_, rank) = inferred(cx, 0)?;
    if let Some(rank) = rank {
        enough_axes(rank)?;
    }
    // The number of rows is read directly, because the full shape may be too large for a dense tensor.
    Ok(cx.ints(2).and_then(|sizes| usize::try_from(*sizes.first()?).ok()))
}

fn enough_axes(rank: usize) -> Result<()> {
    ensure!(rank > 1, "Rank of input SparseTensor should be > 1, but saw rank: {rank}: its rows are kept");
    Ok(())
}

/// Returns the rows, which are sparse tensors of lower rank. Entries of one row keep their order.
pub(super) fn rows_of(all: &Entries) -> Result<Charged<Sparse>> {
    enough_axes(all.rank)?;
    let n_rows =
        usize::try_from(all.shape[0]).map_err(|_| invalid!("`sparse_shape` has {} rows", all.shape[0]))?;
    // Memory for all rows is charged first, because rows without entries cost no input.
    let mut rows: Charged<Sparse> = Charged::with_room(n_rows)?;
    let shape = sizes(&all.shape[1..])?;
    let part = |entries: &[usize]| -> Result<Sparse> {
        let indices = matrix(all.rank - 1, entries.iter().map(|&e| &all.index(e)[1..]))?;
        Ok([indices, all.values.take([entries.len()], entries)?, shape.clone()])
    };
    let none = part(&[])?;
    let mut order = Charged::of(0..all.n)?;
    sort(&mut order, |&a, &b| all.index(a)[0].cmp(&all.index(b)[0]))?;
    let mut pace = Pace::new();
    for entries in order.chunk_by(|&a, &b| all.index(a)[0] == all.index(b)[0]) {
        pace.spend(1 + entries.len())?;
        // The row is inside the shape, as all indices are.
        let row = all.index(entries[0])[0] as usize;
        rows.resize_with(row, || none.clone())?;
        rows.push(part(entries)?)?;
    }
    rows.resize_with(n_rows, || none.clone())?;
    Ok(rows)
}
