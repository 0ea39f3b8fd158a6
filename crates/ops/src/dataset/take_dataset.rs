//! `TakeDataset`: the first elements of a dataset.

use super::datasets::{ENDLESS, How, Over, Source, UNKNOWN, over, source, transforms};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    transforms("TakeDataset", run, |def| def.input("count", DType::I64))
        .doc("Returns a dataset of the first `count` elements; a negative `count` takes all.")
}

struct Take(i64);

impl How for Take {
    fn begin(over: &Over<Take>, env: &StepEnv) -> Result<Source> {
        let mut input = over.input.begin(env)?;
        let mut left = over.how.0;
        Ok(source(move |env| {
            if left == 0 {
                return Ok(None);
            }
            let next = input.next(env)?;
            left -= i64::from(left > 0);
            Ok(next)
        }))
    }

    fn cardinality(over: &Over<Take>) -> i64 {
        // As in TensorFlow, a negative count is the answer.
        match over.input.cardinality() {
            UNKNOWN => UNKNOWN,
            ENDLESS => over.how.0,
            n => n.min(over.how.0),
        }
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let count = cx.int(1)?;
    over(cx, Take(count))
}

cases! {
    is_a_variant: "TakeDataset(variant[], i64[]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    the_first: "DatasetToSingleElement(TakeDataset(RangeDataset(i64 3, i64 9, i64 1; output_types={i64}, output_shapes={shape[]}), i64 1; output_types={i64}, output_shapes={shape[]}); output_types={i64}, output_shapes={shape[]}) = i64 3",
    one_dataset: "TakeDataset(variant[2], i64[]; output_types={f32}, output_shapes={shape[?]}) ! `input_dataset` must be a scalar",
}
