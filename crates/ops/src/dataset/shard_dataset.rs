//! `ShardDataset`: every n-th element of a dataset.

use super::datasets::{How, Over, Source, counted, over, source, transforms};
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> OpDef {
    transforms("ShardDataset", run, |def| {
        def.input("num_shards", DType::I64)
            .input("index", DType::I64)
            .attr("require_non_empty", Bool.or(false))
    })
    .doc(
        "Returns a dataset of the elements whose number leaves the remainder `index` when divided by \
         `num_shards`. With `require_non_empty` it is an error if the first of them does not exist.",
    )
}

struct Shard {
    n: i64,
    index: i64,
    required: bool,
}

impl How for Shard {
    fn begin(over: &Over<Shard>, env: &StepEnv) -> Result<Source> {
        let Shard { n, index, required } = *over.how;
        let mut input = over.input.begin(env)?;
        let (mut number, mut found) = (0, false);
        Ok(source(move |env| {
            loop {
                let Some(element) = input.next(env)? else {
                    ensure!(
                        found || !required,
                        "There aren't enough elements in this dataset for each shard to have at least one element (# elems = {number}, # shards = {n})."
                    );
                    return Ok(None);
                };
                let is_of_shard = number % n == index;
                number = (number + 1) % n;
                if is_of_shard {
                    found = true;
                    return Ok(Some(element));
                }
            }
        }))
    }

    fn cardinality(over: &Over<Shard>) -> i64 {
        let Shard { n, index, .. } = *over.how;
        counted(over.input.cardinality(), |all| all / n + i64::from(index < all % n))
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (n, index) = (cx.int(1)?, cx.int(2)?);
    ensure!(n > 0, "Number of shards must be greater than zero (currently num_shards = {n}).");
    ensure!(0 <= index && index < n, "Index must be between 0 and {} (currently index = {index}).", n - 1);
    let required = cx.attrs().bool("require_non_empty")?;
    over(cx, Shard { n, index, required })
}

cases! {
    is_a_variant: "ShardDataset(variant[], i64[], i64[]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    every_second: "DatasetToSingleElement(BatchDataset(ShardDataset(RangeDataset(i64 0, i64 6, i64 1; output_types={i64}, output_shapes={shape[]}), i64 2, i64 1; output_types={i64}, output_shapes={shape[]}), i64 9; output_types={i64}, output_shapes={shape[?]}); output_types={i64}, output_shapes={shape[?]}) = i64[3] [1 3 5]",
    one_of_them: "ShardDataset(TensorDataset(1; output_shapes={shape[]}), i64 2, i64 2; output_types={i32}, output_shapes={shape[]}) ! Index must be between 0 and 1 (currently index = 2)",
    of_some: "ShardDataset(TensorDataset(1; output_shapes={shape[]}), i64 0, i64 0; output_types={i32}, output_shapes={shape[]}) ! Number of shards must be greater than zero (currently num_shards = 0)",
}
