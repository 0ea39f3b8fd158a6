//! `ExperimentalDatasetCardinality`: the number of elements of a dataset, if it is known before a pass.

use super::datasets::Data;
use millstream_graph::op::{Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    ["ExperimentalDatasetCardinality", "DatasetCardinality"].map(|name| {
        OpDef::new(name)
            .doc(
                "Returns the number of elements of a dataset; -1 if it has no end, and -2 if the number is not \
                 known before a pass, as after a filter.",
            )
            .input("input_dataset", DType::Variant)
            .output("cardinality", DType::I64)
            .infer(|cx| {
                cx.scalar(0)?;
                cx.scalars()
            })
            .kernel(Kernel::stateful(run))
            .gradient(Gradient::none("datasets carry no gradients, as in TensorFlow"))
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let count = Data::input(cx, 0)?.cardinality();
    cx.set(0, Tensor::scalar(count));
    Ok(())
}

cases! {
    infers: "DatasetCardinality(variant[]) : i64[]",
    of_a_range: "ExperimentalDatasetCardinality(RangeDataset(i64 10, i64 0, i64 -3; output_types={i64}, output_shapes={shape[]})) = i64 4",
    of_batches: "ExperimentalDatasetCardinality(BatchDatasetV2(RangeDataset(i64 0, i64 10, i64 1; output_types={i64}, output_shapes={shape[]}), i64 3, true; output_types={i64}, output_shapes={shape[?]})) = i64 3",
    without_end: "DatasetCardinality(RepeatDataset(TensorDataset(1; output_shapes={shape[]}), i64 -1; output_types={i32}, output_shapes={shape[]})) = i64 -1",
    unknown: "DatasetCardinality(UnbatchDataset(TensorDataset([1 2]; output_shapes={shape[2]}); output_types={i32}, output_shapes={shape[]})) = i64 -2",
    of_a_dataset: "DatasetCardinality(OptionalNone()) ! `input_dataset` is a optional, not a dataset",
}
