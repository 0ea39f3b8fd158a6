//! Stacking sparse tensors into a batch.

use millstream_state::Sparse;
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Assembler, DType, Result, Tensor, ensure, invalid};

/// Stacks the sparse tensors along new first axes of the sizes `lead`. The other axes have the size of the
/// largest part.
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
    let width = lead.len() + rank;
    let mut flat = Charged::with_room(n.saturating_mul(width))?;
    // The first part of an index: the position of its sparse tensor in the batch.
    let mut at = vec![0i64; lead.len()];
    let mut pace = Pace::new();
    for [indices, values, _] in parts {
        pace.spend(1 + values.elements())?;
        all.push(values, 0, values.elements())?;
        let indices = indices.as_slice::<i64>()?;
        for e in 0..values.elements() {
            flat.extend_from_slice(&at)?;
            flat.extend_from_slice(&indices[e * rank..(e + 1) * rank])?;
        }
        for (place, &size) in at.iter_mut().zip(lead).rev() {
            *place += 1;
            if *place < size as i64 {
                break;
            }
            *place = 0;
        }
    }
    let indices = Tensor::from_slice([n, width], &flat)?;
    let shape: Vec<i64> = lead.iter().map(|&size| size as i64).chain(shape).collect();
    Ok([indices, all.finish()?, Tensor::vector(&shape)?])
}
