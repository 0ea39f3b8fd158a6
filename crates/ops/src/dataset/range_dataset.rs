//! `RangeDataset`: a dataset of evenly spaced integers.

use super::datasets::{Dataset, Source, Spec, give, makes, source, typed};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::DType::I64;
use millstream_tensor::{Result, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("RangeDataset")
        .doc("Returns a dataset of the integers from `start` to `stop`, which is left out, by `step`.")
        .input("start", I64)
        .input("stop", I64)
        .input("step", I64);
    makes(typed(def), run)
}

struct Range {
    start: i64,
    stop: i64,
    step: i64,
    spec: Spec,
}

impl Dataset for Range {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn begin(&self, _env: &StepEnv) -> Result<Source> {
        let (mut next, stop, step) = (Some(self.start), self.stop, self.step);
        Ok(source(move |_| {
            let inside = next.filter(|at| if step > 0 { *at < stop } else { *at > stop });
            // The end of the integers is the end of the dataset.
            next = inside.and_then(|at| at.checked_add(step));
            Ok(inside.map(|at| [Tensor::scalar(at)].into_iter().collect()))
        }))
    }
    fn cardinality(&self) -> i64 {
        let (from, to, by) = (i128::from(self.start), i128::from(self.stop), i128::from(self.step));
        let away = if by > 0 { to - from } else { from - to };
        i64::try_from((away.max(0) + by.abs() - 1) / by.abs()).unwrap_or(i64::MAX)
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (start, stop, step) = (cx.int(0)?, cx.int(1)?, cx.int(2)?);
    ensure!(step != 0, "step must be a non-zero integer.");
    let spec = Spec::of(cx.attrs())?;
    Spec::scalar(I64).check(&spec)?;
    give(cx, Range { start, stop, step, spec })
}

cases! {
    is_a_variant: "RangeDataset(i64[], i64[], i64[]; output_types={i64}, output_shapes={shape[]}) : variant[]",
    of_one: "DatasetToSingleElement(RangeDataset(i64 7, i64 5, i64 -3; output_types={i64}, output_shapes={shape[]}); output_types={i64}, output_shapes={shape[]}) = i64 7",
    has_a_step: "RangeDataset(i64 0, i64 5, i64 0; output_types={i64}, output_shapes={shape[]}) ! step must be a non-zero integer",
    of_integers: "RangeDataset(i64 0, i64 5, i64 1; output_types={f32}, output_shapes={shape[]}) ! expected int64 but got float",
}
