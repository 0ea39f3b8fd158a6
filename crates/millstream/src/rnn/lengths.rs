//! Sequences of different lengths: which places lie in them, and turning them round.

use millstream_graph::{Arg, Graph, Output};
use millstream_tensor::DType;

#[track_caller]
pub(super) fn mask<'g>(g: &'g Graph, lengths: Output<'g>, max: Option<Arg<'g>>) -> Output<'g> {
    g.name_scope("SequenceMask", || {
        let dtype = lengths.dtype().unwrap_or(DType::I32);
        let max = max.unwrap_or_else(|| {
            let rank = g.op("Rank").input(lengths).output();
            let all = g.op("Range").input(0).input(rank).input(1).output();
            let longest = g.op("Max").inputs([lengths, all]).output();
            let zero = g.scalar_of(dtype, 0.0);
            g.op("Maximum").inputs([longest, zero]).output().into()
        });
        let node = g.op("Range").input(g.scalar_of(dtype, 0.0)).input(max).input(g.scalar_of(dtype, 1.0));
        let places = node.attr("Tidx", dtype).output();
        let lengths = g.op("ExpandDims").input(lengths).input(-1).output();
        g.op("Less").inputs([places, lengths]).output()
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
        Some(lengths) => g
            .op("ReverseSequence")
            .inputs([x, lengths])
            .attr("seq_dim", time)
            .attr("batch_dim", batch)
            .output(),
        None => g.op("ReverseV2").input(x).input([time]).output(),
    }
}
