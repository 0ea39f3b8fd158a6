//! `UnbatchDataset`: the slices of each element along its first axis.

use super::datasets::{Element, How, Over, Source, over, source, transforms};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    ["UnbatchDataset", "ExperimentalUnbatchDataset"].map(|name| {
        transforms(name, run, |def| def)
            .doc("Returns a dataset of the slices of each element's components along their first axis.")
    })
}

struct Unbatch;

impl How for Unbatch {
    fn begin(over: &Over<Unbatch>, env: &StepEnv) -> Result<Source> {
        let mut input = over.input.begin(env)?;
        let (mut batch, mut next, mut len) = (Element::new(), 0, 0);
        Ok(source(move |env| {
            while next == len {
                let Some(element) = input.next(env)? else { return Ok(None) };
                let mut rows = None;
                for value in &element {
                    ensure!(
                        value.rank() > 0,
                        "Input element must have a non-scalar value in each component."
                    );
                    let first = *rows.get_or_insert(value.shape()[0]);
                    ensure!(
                        value.shape()[0] == first,
                        "Input element must have the same batch size in each component. Component 0 had size {first} but another component had size {}.",
                        value.shape()[0]
                    );
                }
                (batch, next, len) = (element, 0, rows.unwrap_or(0));
            }
            let rows = batch.iter().map(|value| value.row(next)).collect::<Result<_>>()?;
            next += 1;
            Ok(Some(rows))
        }))
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    over(cx, Unbatch)
}

cases! {
    is_a_variant: "UnbatchDataset(variant[]; output_types={f32}, output_shapes={shape[?]}) : variant[]",
    by_its_old_name: "DatasetToSingleElement(ExperimentalUnbatchDataset(TensorDataset([7]; output_shapes={shape[1]}); output_types={i32}, output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) = 7",
    not_of_scalars: "DatasetToSingleElement(UnbatchDataset(TensorDataset(7; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) ! must have a non-scalar value",
    of_one_size: "DatasetToSingleElement(UnbatchDataset(TensorDataset([7], [7 8]; output_shapes={shape[1], shape[2]}); output_types={i32, i32}, output_shapes={shape[], shape[]}); output_types={i32, i32}, output_shapes={shape[], shape[]}) ! same batch size in each component",
}
