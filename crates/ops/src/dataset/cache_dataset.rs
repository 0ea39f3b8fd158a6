//! `CacheDataset`: elements that are made once, and kept in memory or in a file.

use super::datasets::{Element, How, Kept, Over, Source, keep, over, source, transforms};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Result};
use parking_lot::Mutex;
use std::sync::Arc;

#[cfg(feature = "tf-files")]
use super::file_cache::in_file;

pub(crate) fn def() -> OpDef {
    transforms("CacheDataset", run, |def| def.input("filename", DType::Str)).doc(
        "Returns a dataset that keeps the elements of its first complete pass, for later passes: in memory, or, \
         if `filename` is not empty, in a checkpoint with this prefix, which later runs and programs read \
         instead of the input. A pass that ends early keeps nothing. While a pass writes the file, no other can: \
         it has the file `filename` with `_0.lockfile` appended.",
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
    match cx.input(1).as_strs().and_then(|strs| strs.first()).cloned() {
        Some(file) if !file.is_empty() => in_file(cx, &file),
        _ => over(cx, Cached(Arc::default())),
    }
}

#[cfg(not(feature = "tf-files"))]
fn in_file(_: &mut KernelCx, _: &millstream_tensor::Str) -> Result<()> {
    let why =
        "CacheDataset keeps elements in a file with the feature `tf-files`, which this build does not have";
    Err(millstream_tensor::Error::unimplemented(why)
        .with_help("turn on the feature `tf-files` of the crate `millstream`, or leave `filename` empty"))
}

cases! {
    is_a_variant: "CacheDataset(variant[], str[]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    the_same: "DatasetToSingleElement(BatchDataset(RepeatDataset(CacheDataset(RangeDataset(i64 0, i64 2, i64 1; output_types={i64}, output_shapes={shape[]}), \"\"; output_types={i64}, output_shapes={shape[]}), i64 2; output_types={i64}, output_shapes={shape[]}), i64 9; output_types={i64}, output_shapes={shape[?]}); output_types={i64}, output_shapes={shape[?]}) = i64[4] [0 1 0 1]",
    a_file: "DatasetToSingleElement(CacheDataset(TensorDataset(1; output_shapes={shape[]}), \"/millstream/none\"; output_types={i32}, output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) ! /millstream/none_0.lockfile",
    of_one_format: "CacheDataset(TensorDataset(1; output_shapes={shape[]}), \"a.safetensors\"; output_types={i32}, output_shapes={shape[]}) ! cannot end in `.safetensors`",
}
