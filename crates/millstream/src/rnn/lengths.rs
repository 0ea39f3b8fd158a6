//! Sequences of different lengths: masks and reversal.

use crate::ops::{Ops, OutputOps};
use crate::options::Start;
use millstream_graph::{Arg, Graph, Output};
use millstream_tensor::DType;

#[track_caller]
pub(super) fn mask<'g>(g: &'g Graph, lengths: Output<'g>, max: Option<Arg<'g>>) -> Output<'g> {
    g.name_scope("SequenceMask", || {
        let dtype = lengths.dtype().unwrap_or(DType::I32);
        let max = max.unwrap_or_else(|| {
            let rank = lengths.rank();
            let all = g.reduce().range(0, rank, 1);
            let longest = lengths.max(all);
            let zero = g.scalar_of(dtype, 0.0);
            longest.maximum(zero).into()
        });
        let (zero, one) = (g.scalar_of(dtype, 0.0), g.scalar_of(dtype, 1.0));
        let places = g.with("Tidx", dtype).reduce().range(zero, max, one);
        let lengths = lengths.expand_dims(-1);
        places.less(lengths)
    })
}

#[track_caller]
pub(super) fn reverse<'g>(
    g: &'g Graph,
    x: Output<'g>,
    lengths: Option<Output<'g>>,
    batch_major: bool,
) -> Output<'g> {
    let (time, batch) = if batch_major { (1, 0) } else { (0, 1) };
    match lengths {
        Some(lengths) => g.with("batch_dim", batch).array().reverse_sequence(x, lengths, time),
        None => g.array().reverse_v2(x, [time]),
    }
}
