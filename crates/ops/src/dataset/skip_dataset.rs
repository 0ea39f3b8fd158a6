//! `SkipDataset`: a dataset without its first elements.

use super::datasets::{How, Over, Source, counted, over, source, transforms};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    transforms("SkipDataset", run, |def| def.input("count", DType::I64))
        .doc("Returns a dataset without the first `count` elements; a negative `count` skips all.")
}

struct Skip(i64);

impl How for Skip {
    fn begin(over: &Over<Skip>, env: &StepEnv) -> Result<Source> {
        if over.how.0 < 0 {
            return Ok(source(|_| Ok(None)));
        }
        let mut input = over.input.begin(env)?;
        let mut left = over.how.0;
        Ok(source(move |env| {
            while left > 0 {
                if input.next(env)?.is_none() {
                    left = 0;
                    return Ok(None);
                }
                left -= 1;
            }
            input.next(env)
        }))
    }

    fn cardinality(over: &Over<Skip>) -> i64 {
        let count = over.how.0;
        counted(over.input.cardinality(), |n| if count < 0 { 0 } else { (n - count).max(0) })
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let count = cx.int(1)?;
    over(cx, Skip(count))
}

cases! {
    is_a_variant: "SkipDataset(variant[], i64[]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    the_last: "DatasetToSingleElement(SkipDataset(RangeDataset(i64 3, i64 9, i64 1; output_types={i64}, output_shapes={shape[]}), i64 5; output_types={i64}, output_shapes={shape[]}); output_types={i64}, output_shapes={shape[]}) = i64 8",
    of_a_dataset: "SkipDataset(OptionalNone(), i64 1; output_types={f32}, output_shapes={shape[?]}) ! `input_dataset` is a optional, not a dataset",
}
