//! `ShuffleDataset`, `ShuffleAndRepeatDataset`: elements in random order.

use super::datasets::{over, transforms};
use super::shuffling::Shuffle;
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{KernelCx, OpDef};
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    let seeded = |def: OpDef| {
        def.input("buffer_size", DType::I64).input("seed", DType::I64).input("seed2", DType::I64)
    };
    [
        transforms("ShuffleDataset", once, |def| {
            seeded(def).attr("reshuffle_each_iteration", Bool.or(true))
        })
        .doc(
            "Returns a dataset whose elements are drawn from a buffer of `buffer_size` elements of the input. \
             The order follows from the seeds; two zeros are random seeds. Each pass has another order if \
             `reshuffle_each_iteration`.",
        ),
        transforms("ShuffleAndRepeatDataset", repeated, |def| seeded(def).input("count", DType::I64)).doc(
            "Returns a dataset that repeats its input `count` times, or without end if `count` is negative, \
             with elements drawn from a buffer of `buffer_size` elements, which spans repetitions.",
        ),
    ]
}

fn once(cx: &mut KernelCx) -> Result<()> {
    let (size, seeds) = Shuffle::inputs(cx)?;
    let reshuffles = cx.attrs().bool("reshuffle_each_iteration")?;
    over(cx, Shuffle::once(size, seeds, reshuffles)?)
}

fn repeated(cx: &mut KernelCx) -> Result<()> {
    let (size, seeds) = Shuffle::inputs(cx)?;
    let count = cx.int(4)?;
    ensure!(count > 0 || count == -1, "count must be greater than zero or equal to -1.");
    over(cx, Shuffle::repeated(size, seeds, count))
}

cases! {
    is_a_variant: "ShuffleDataset(variant[], i64[], i64[], i64[]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    in_tensorflows_order: "DatasetToSingleElement(BatchDataset(ShuffleDataset(RangeDataset(i64 0, i64 6, i64 1; output_types={i64}, output_shapes={shape[]}), i64 3, i64 87654321, i64 1; reshuffle_each_iteration=false, output_types={i64}, output_shapes={shape[]}), i64 6; output_types={i64}, output_shapes={shape[?]}); output_types={i64}, output_shapes={shape[?]}) = i64[6] [0 3 2 4 5 1]",
    across_epochs: "DatasetToSingleElement(BatchDataset(ShuffleAndRepeatDataset(RangeDataset(i64 0, i64 6, i64 1; output_types={i64}, output_shapes={shape[]}), i64 3, i64 87654321, i64 1, i64 2; output_types={i64}, output_shapes={shape[]}), i64 12; output_types={i64}, output_shapes={shape[?]}); output_types={i64}, output_shapes={shape[?]}) = i64[12] [0 3 2 4 5 1 0 3 4 1 2 5]",
    has_a_buffer: "ShuffleDataset(RangeDataset(i64 0, i64 6, i64 1; output_types={i64}, output_shapes={shape[]}), i64 0, i64 1, i64 1; output_types={i64}, output_shapes={shape[]}) ! buffer_size must be greater than zero",
}
