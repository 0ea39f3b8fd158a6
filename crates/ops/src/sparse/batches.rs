//! A sparse tensor taken apart into its rows ([`rows_of`]), and sparse tensors put together to a batch ([`batch`]).

use super::entries::{Entries, inferred, matrix, sizes};
use millstream_graph::op::InferCx;
use millstream_state::Sparse;
use millstream_tensor::budget::Charged;
use millstream_tensor::{Assembler, DType, Dim, Result, Tensor, ensure, invalid};

/// The shape rule for what is taken apart: how many rows the sparse tensor in inputs 0 to 2 has.
pub(super) fn inferred_rows(cx: &InferCx) -> Result<Dim> {
    let (_, rank) = inferred(cx, 0)?;
    if let Some(rank) = rank {
        enough_axes(rank)?;
    }
    // The shape of the whole need be none that a dense tensor could have.
    Ok(cx.ints(2).and_then(|sizes| usize::try_from(*sizes.first()?).ok()))
}

fn enough_axes(rank: usize) -> Result<()> {
    ensure!(rank > 1, "Rank of input SparseTensor should be > 1, but saw rank: {rank}: its rows are kept");
    Ok(())
}

/// Each row, a sparse tensor of one axis less. Entries of one row stay in their order.
pub(super) fn rows_of(all: &Entries) -> Result<Charged<Sparse>> {
    enough_axes(all.rank)?;
    let n_rows =
        usize::try_from(all.shape[0]).map_err(|_| invalid!("`sparse_shape` has {} rows", all.shape[0]))?;
    // Room for all is asked for before anything is made: rows without entries cost no input.
    let mut rows: Charged<Sparse> = Charged::with_room(n_rows)?;
    let shape = sizes(&all.shape[1..])?;
    let part = |entries: &[usize]| -> Result<Sparse> {
        let indices = matrix(all.rank - 1, entries.iter().map(|&e| &all.index(e)[1..]))?;
        Ok([indices, all.values.take([entries.len()], entries)?, shape.clone()])
    };
    let none = part(&[])?;
    let mut order: Vec<usize> = (0..all.n).collect();
    order.sort_by_key(|&entry| all.index(entry)[0]);
    for entries in order.chunk_by(|&a, &b| all.index(a)[0] == all.index(b)[0]) {
        // Within the shape, as all indices are.
        let row = all.index(entries[0])[0] as usize;
        rows.resize_with(row, || none.clone())?;
        rows.push(part(entries)?)?;
    }
    rows.resize_with(n_rows, || none.clone())?;
    Ok(rows)
}

/// The sparse tensors one after the other along new first axes of these sizes. The other axes are as long as the longest of each.
pub(crate) fn batch(dtype: DType, lead: &[usize], parts: &[Sparse]) -> Result<Sparse> {
    let rank = parts.first().map_or(0, |[_, _, shape]| shape.elements());
    let mut shape = vec![0i64; rank];
    let mut n = 0usize;
    for (i, [_, values, sizes]) in parts.iter().enumerate() {
        let sizes = sizes.as_slice::<i64>()?;
        ensure!(
            sizes.len() == rank,
            "Inconsistent rank across SparseTensors: rank prior to SparseTensor[{i}] was: {rank} but rank of SparseTensor[{i}] is: {}",
            sizes.len()
        );
        shape.iter_mut().zip(sizes).for_each(|(most, &size)| *most = size.max(*most));
        n = n
            .checked_add(values.elements())
            .ok_or_else(|| invalid!("the sparse tensors have too many entries"))?;
    }
    let mut all = Assembler::new(dtype, [n])?;
    let mut rows = Vec::with_capacity(parts.len());
    // The first part of an index: where its sparse tensor lies in the batch.
    let mut at = vec![0i64; lead.len()];
    for [indices, values, _] in parts {
        all.push(values, 0, values.elements())?;
        rows.push((at.clone(), indices.as_slice::<i64>()?, values.elements()));
        for (place, &size) in at.iter_mut().zip(lead).rev() {
            *place += 1;
            if *place < size as i64 {
                break;
            }
            *place = 0;
        }
    }
    let index = |(at, indices, n): &(Vec<i64>, &[i64], usize)| {
        let (at, indices) = (at.clone(), indices.to_vec());
        (0..*n).flat_map(move |e| [&at[..], &indices[e * rank..(e + 1) * rank]].concat())
    };
    let indices = Tensor::from_iter([n, lead.len() + rank], rows.iter().flat_map(index))?;
    let shape: Vec<i64> = lead.iter().map(|&size| size as i64).chain(shape).collect();
    Ok([indices, all.finish()?, sizes(&shape)?])
}
