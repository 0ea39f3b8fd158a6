//! `RandomDataset`: random integers without end.

use super::datasets::{Dataset, ENDLESS, Source, Spec, give, makes, source, typed};
use crate::shared::philox::Words;
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::DType::I64;
use millstream_tensor::{Result, Tensor};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("RandomDataset")
        .doc("Returns a dataset of random integers from 0 to 2^32 - 1. Two zeros are random seeds.")
        .input("seed", I64)
        .input("seed2", I64);
    makes(typed(def), run)
}

struct Random {
    words: Words,
    spec: Spec,
}

impl Dataset for Random {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn begin(&self, _env: &StepEnv) -> Result<Source> {
        let mut words = self.words.clone();
        Ok(source(move |_| Ok(Some([Tensor::scalar(i64::from(words.word()))].into_iter().collect()))))
    }
    fn cardinality(&self) -> i64 {
        ENDLESS
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let spec = Spec::of(cx.attrs())?;
    Spec::scalar(I64).check(&spec)?;
    give(cx, Random { words: Words::seeded(cx.int(0)?, cx.int(1)?)?, spec })
}

cases! {
    is_a_variant: "RandomDataset(i64[], i64[]; output_types={i64}, output_shapes={shape[]}) : variant[]",
    tensorflows_numbers: "DatasetToSingleElement(TakeDataset(RandomDataset(i64 87654321, i64 3; output_types={i64}, output_shapes={shape[]}), i64 1; output_types={i64}, output_shapes={shape[]}); output_types={i64}, output_shapes={shape[]}) = i64 3534849767",
    of_integers: "RandomDataset(i64 1, i64 3; output_types={f32}, output_shapes={shape[]}) ! expected int64 but got float",
}
