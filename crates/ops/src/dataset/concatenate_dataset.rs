//! `ConcatenateDataset`: one dataset after another.

use super::datasets::{Data, Dataset, ENDLESS, Optimized, Source, Spec, UNKNOWN, give, makes, source, typed};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("ConcatenateDataset")
        .doc("Returns a dataset of the elements of `input_dataset`, then those of `another_dataset`.")
        .input("input_dataset", DType::Variant)
        .input("another_dataset", DType::Variant);
    makes(typed(def), run).infer(|cx| {
        cx.scalar(0)?;
        cx.scalar(1)?;
        cx.scalars()
    })
}

struct Both {
    first: Data,
    second: Data,
    spec: Spec,
}

impl Dataset for Both {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn depth(&self) -> u32 {
        1 + self.first.depth().max(self.second.depth())
    }
    fn optimized(&self, seen: &mut Optimized) -> Result<Option<Data>> {
        let (first, second) = (self.first.optimized(seen)?, self.second.optimized(seen)?);
        if first.is_none() && second.is_none() {
            return Ok(None);
        }
        let (first, second) = (first.unwrap_or(self.first.clone()), second.unwrap_or(self.second.clone()));
        Data::new(Both { first, second, spec: self.spec.clone() }, 0).map(Some)
    }
    fn begin(&self, env: &StepEnv) -> Result<Source> {
        let mut pass = self.first.begin(env)?;
        let mut rest = Some(self.second.clone());
        Ok(source(move |env| {
            loop {
                if let Some(next) = pass.next(env)? {
                    return Ok(Some(next));
                }
                let Some(second) = rest.take() else { return Ok(None) };
                pass = second.begin(env)?;
            }
        }))
    }
    fn cardinality(&self) -> i64 {
        match (self.first.cardinality(), self.second.cardinality()) {
            (ENDLESS, _) | (_, ENDLESS) => ENDLESS,
            (UNKNOWN, _) | (_, UNKNOWN) => UNKNOWN,
            (a, b) => a.saturating_add(b),
        }
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (first, second) = (Data::input(cx, 0)?, Data::input(cx, 1)?);
    let spec = Spec::of(cx.attrs())?;
    spec.check(first.spec())?;
    spec.check(second.spec())?;
    give(cx, Both { first, second, spec })
}

cases! {
    is_a_variant: "ConcatenateDataset(variant[], variant[]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    then_the_second: "DatasetToSingleElement(SkipDataset(ConcatenateDataset(TensorDataset(1; output_shapes={shape[]}), TensorDataset(2; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}), i64 1; output_types={i32}, output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) = 2",
    of_one_type: "ConcatenateDataset(TensorDataset(1; output_shapes={shape[]}), TensorDataset(2.0; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) ! Data type mismatch at component 0",
}
