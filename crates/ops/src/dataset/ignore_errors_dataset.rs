//! `IgnoreErrorsDataset`: a dataset without the elements that fail.

use super::datasets::{How, Over, Source, is_interrupt, over, source, transforms};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{Code, Result};

pub(crate) fn def() -> [OpDef; 2] {
    ["IgnoreErrorsDataset", "ExperimentalIgnoreErrorsDataset"].map(|name| {
        transforms(name, run, |def| def)
            .doc("Returns a dataset without the elements whose making ends with an error.")
    })
}

struct Ignore;

impl How for Ignore {
    fn begin(over: &Over<Ignore>, env: &StepEnv) -> Result<Source> {
        let mut input = over.input.begin(env)?;
        Ok(source(move |env| {
            loop {
                match input.next(env) {
                    // What is out of memory now is so for the next element.
                    Err(error) if is_interrupt(&error) || error.code() == Code::ResourceExhausted => {
                        return Err(error);
                    }
                    Err(_) => {}
                    Ok(next) => return Ok(next),
                }
            }
        }))
    }

    fn cardinality(over: &Over<Ignore>) -> i64 {
        over.input.cardinality()
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    over(cx, Ignore)
}

cases! {
    is_a_variant: "IgnoreErrorsDataset(variant[]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    by_its_old_name: "DatasetToSingleElement(ExperimentalIgnoreErrorsDataset(TensorDataset(7; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) = 7",
    of_a_dataset: "IgnoreErrorsDataset(OptionalNone(); output_types={f32}, output_shapes={shape[?]}) ! `input_dataset` is a optional, not a dataset",
}
