//! `CacheDataset`: elements that are made once and kept in memory.

use super::datasets::{Element, How, Kept, Over, Source, keep, over, source, transforms};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;

pub(crate) fn def() -> OpDef {
    transforms("CacheDataset", run, |def| def.input("filename", DType::Str)).doc(
        "Returns a dataset that keeps the elements of its first complete pass in memory, for later passes. \
         `filename` must be empty.",
    )
}

/// The elements of a complete pass, once there was one.
#[derive(Default)]
struct Cache(Mutex<Option<Arc<Charged<Kept>>>>);

struct Cached(Arc<Cache>);

impl How for Cached {
    fn begin(over: &Over<Cached>, env: &StepEnv) -> Result<Source> {
        let cache = over.how.0.clone();
        let kept = cache.0.lock().clone();
        if let Some(kept) = kept {
            let mut next = 0;
            return Ok(source(move |_| {
                next += 1;
                Ok(kept.get(next - 1).map(|kept| Element::clone(kept)))
            }));
        }
        let mut input = over.input.begin(env)?;
        let mut made = Charged::new();
        Ok(source(move |env| {
            let Some(element) = input.next(env)? else {
                let made = std::mem::take(&mut made);
                cache.0.lock().get_or_insert_with(|| Arc::new(made));
                return Ok(None);
            };
            keep(&mut made, element.clone())?;
            Ok(Some(element))
        }))
    }

    fn cardinality(over: &Over<Cached>) -> i64 {
        over.input.cardinality()
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let file = cx.input(1).as_strs().and_then(|strs| strs.first()).map(|s| s.text().into_owned());
    if let Some(file) = file.filter(|file| !file.is_empty()) {
        return Err(Error::unimplemented(format!(
            "CacheDataset keeps elements in memory, and not yet in a file such as `{file}`"
        ))
        .with_help("leave `filename` empty, or write the elements to a TFRecord file"));
    }
    over(cx, Cached(Arc::default()))
}

cases! {
    is_a_variant: "CacheDataset(variant[], str[]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    the_same: "DatasetToSingleElement(BatchDataset(RepeatDataset(CacheDataset(RangeDataset(i64 0, i64 2, i64 1; output_types={i64}, output_shapes={shape[]}), \"\"; output_types={i64}, output_shapes={shape[]}), i64 2; output_types={i64}, output_shapes={shape[]}), i64 9; output_types={i64}, output_shapes={shape[?]}); output_types={i64}, output_shapes={shape[?]}) = i64[4] [0 1 0 1]",
    not_in_files: "CacheDataset(TensorDataset(1; output_shapes={shape[]}), \"a\"; output_types={i32}, output_shapes={shape[]}) ! not yet in a file",
}
