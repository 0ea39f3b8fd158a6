//! `BatchDataset`, `BatchDatasetV2`: consecutive elements as one.

use super::batches::{Gathering, Size, stacked};
use super::datasets::{How, Over, Source, over, source, transforms};
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Returns a dataset whose elements are `batch_size` consecutive elements of the input, stacked \
               along a new first axis. The last batch may be smaller, and is left out if `drop_remainder`.";
    [
        transforms("BatchDataset", run, |def| def.input("batch_size", DType::I64)).doc(doc),
        transforms("BatchDatasetV2", run, |def| {
            def.input("batch_size", DType::I64)
                .input("drop_remainder", DType::Bool)
                .attr("parallel_copy", Bool.or(false))
        })
        .doc(doc),
    ]
}

/// Batches of this size.
pub(super) struct Batch(pub Size);

impl How for Batch {
    fn begin(over: &Over<Batch>, env: &StepEnv) -> Result<Source> {
        let mut batches = Gathering::of(over.input.begin(env)?, over.how.0);
        Ok(source(move |env| batches.next(env, stacked)))
    }

    fn cardinality(over: &Over<Batch>) -> i64 {
        over.how.0.batches(over.input.cardinality())
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let drop = (cx.n_inputs() > 2).then_some(2);
    let size = Size::of(cx, 1, drop)?;
    over(cx, Batch(size))
}

cases! {
    is_a_variant: "BatchDatasetV2(variant[], i64[], bool[]; output_types={f32}, output_shapes={shape[?,2]}) : variant[]",
    of_two: "DatasetToSingleElement(BatchDatasetV2(TensorSliceDataset([1 2]; output_shapes={shape[]}), i64 5, false; output_types={i32}, output_shapes={shape[?]}); output_types={i32}, output_shapes={shape[?]}) = [1 2]",
    by_its_old_name: "DatasetToSingleElement(BatchDataset(TensorSliceDataset([1 2]; output_shapes={shape[]}), i64 2; output_types={i32}, output_shapes={shape[?]}); output_types={i32}, output_shapes={shape[?]}) = [1 2]",
    without_the_rest: "DatasetToSingleElement(BatchDatasetV2(TensorSliceDataset([1 2]; output_shapes={shape[]}), i64 5, true; output_types={i32}, output_shapes={shape[?]}); output_types={i32}, output_shapes={shape[?]}) ! Dataset was empty",
    of_a_size: "BatchDatasetV2(TensorSliceDataset([1 2]; output_shapes={shape[]}), i64 0, true; output_types={i32}, output_shapes={shape[?]}) ! Batch size must be greater than zero",
}
