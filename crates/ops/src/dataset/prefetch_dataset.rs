//! `PrefetchDataset`: elements that are made before they are asked for.

use super::datasets::{How, Over, Source, over, transforms};
use millstream_graph::op::spec::{Bool, Int, Spec};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> OpDef {
    transforms("PrefetchDataset", run, |def| {
        def.input("buffer_size", DType::I64)
            .attr("slack_period", Int.or(0))
            .attr("legacy_autotune", Bool.or(true))
    })
    .doc(
        "Returns the elements of the input. TensorFlow makes up to `buffer_size` of them ahead on other \
         threads; here an element is made when it is asked for.",
    )
}

struct Prefetch;

impl How for Prefetch {
    fn begin(over: &Over<Prefetch>, env: &StepEnv) -> Result<Source> {
        over.input.begin(env)
    }

    fn cardinality(over: &Over<Prefetch>) -> i64 {
        over.input.cardinality()
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let size = cx.int(1)?;
    ensure!(size >= -1, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning");
    over(cx, Prefetch)
}

cases! {
    is_a_variant: "PrefetchDataset(variant[], i64[]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    the_same: "DatasetToSingleElement(PrefetchDataset(TensorDataset(1; output_shapes={shape[]}), i64 2; output_types={i32}, output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) = 1",
    not_less_than_none: "PrefetchDataset(TensorDataset(1; output_shapes={shape[]}), i64 -2; output_types={i32}, output_shapes={shape[]}) ! buffer_size must be >= 0",
}
