//! `RepeatDataset`: a dataset several times, or for ever.

use super::datasets::{Data, ENDLESS, How, Optimized, Over, Source, counted, over, source, transforms};
use super::shuffling::Shuffle;
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    transforms("RepeatDataset", run, |def| def.input("count", DType::I64)).doc(
        "Returns a dataset that repeats its input `count` times, or without end if `count` is negative. A \
         repetition without elements is the end.",
    )
}

struct Repeat(i64);

impl How for Repeat {
    fn begin(over: &Over<Repeat>, _env: &StepEnv) -> Result<Source> {
        let dataset = over.input.clone();
        let mut left = over.how.0;
        let mut pass: Option<Source> = None;
        Ok(source(move |env| {
            while left != 0 {
                let is_first = pass.is_none();
                let input = match &mut pass {
                    Some(pass) => pass,
                    None => pass.insert(dataset.begin(env)?),
                };
                if let Some(next) = input.next(env)? {
                    return Ok(Some(next));
                }
                pass = None;
                left = if is_first { 0 } else { left - i64::from(left > 0) };
            }
            Ok(None)
        }))
    }

    // TensorFlow's optimizer makes one dataset of a shuffle and its repetition, whose buffer spans epochs.
    fn optimized(over: &Over<Repeat>, seen: &mut Optimized) -> Result<Option<Data>> {
        let Some(shuffled) = over.input.shuffles() else { return Ok(None) };
        let how = Shuffle::repeated(shuffled.buffer_size, shuffled.seeds, over.how.0);
        let input = shuffled.input.optimized(seen)?.unwrap_or(shuffled.input);
        Data::new(Over { input, spec: over.spec.clone(), how: how.into() }, 0).map(Some)
    }

    fn cardinality(over: &Over<Repeat>) -> i64 {
        match (over.input.cardinality(), over.how.0) {
            (0, _) | (_, 0) => 0,
            (_, ..0) => ENDLESS,
            (n, count) => counted(n, |n| n.saturating_mul(count)),
        }
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let count = cx.int(1)?;
    over(cx, Repeat(count))
}

cases! {
    is_a_variant: "RepeatDataset(variant[], i64[]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    the_last: "DatasetToSingleElement(SkipDataset(RepeatDataset(RangeDataset(i64 3, i64 9, i64 1; output_types={i64}, output_shapes={shape[]}), i64 2; output_types={i64}, output_shapes={shape[]}), i64 11; output_types={i64}, output_shapes={shape[]}); output_types={i64}, output_shapes={shape[]}) = i64 8",
    of_datasets: "RepeatDataset(OptionalNone(), i64 1; output_types={f32}, output_shapes={shape[?]}) ! `input_dataset` is a optional, not a dataset",
}
