//! `TensorSliceDataset`: a dataset of the slices of tensors along their first axis.

use super::datasets::{Dataset, Source, Spec, give, makes, source};
use millstream_graph::op::spec::{ShapeList, TypesFrom1};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{Result, Tensor, ensure};
use std::sync::Arc;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("TensorSliceDataset")
        .doc("Returns a dataset of the slices of `components` along their first axis, whose length is equal.")
        .input_list("components", "Toutput_types")
        .attr("Toutput_types", TypesFrom1)
        .attr("output_shapes", ShapeList);
    makes(def, run)
}

struct Slices {
    whole: Arc<[Tensor]>,
    len: usize,
    spec: Spec,
}

impl Dataset for Slices {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn begin(&self, _env: &StepEnv) -> Result<Source> {
        let (whole, len) = (self.whole.clone(), self.len);
        let mut next = 0;
        Ok(source(move |_| {
            if next == len {
                return Ok(None);
            }
            let element = whole.iter().map(|value| value.row(next)).collect::<Result<_>>()?;
            next += 1;
            Ok(Some(element))
        }))
    }
    fn cardinality(&self) -> i64 {
        self.len as i64
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let spec = Spec::named(cx.attrs(), "Toutput_types")?;
    let whole: Vec<Tensor> = (0..cx.n_inputs()).map(|i| cx.take(i).kept()).collect::<Result<_>>()?;
    ensure!(!whole.is_empty(), "a TensorSliceDataset needs a component");
    let mut len = None;
    for (i, value) in whole.iter().enumerate() {
        ensure!(
            value.rank() > 0,
            "All components must be at least 1-dimensional (component {i} is a scalar)"
        );
        let n = value.shape()[0];
        let first = *len.get_or_insert(n);
        ensure!(
            n == first,
            "All components must have the same size in the 0th dimension: component 0 has {first}, component {i} {n}"
        );
    }
    give(cx, Slices { whole: whole.into(), len: len.unwrap_or(0), spec })
}

cases! {
    is_a_variant: "TensorSliceDataset(f32[?,3]; output_shapes={shape[3]}) : variant[]",
    its_last_slice: "DatasetToSingleElement(SkipDataset(TensorSliceDataset([[1 2] [3 4]]; output_shapes={shape[2]}), i64 1; output_types={i32}, output_shapes={shape[2]}); output_types={i32}, output_shapes={shape[2]}) = [3 4]",
    same_length: "TensorSliceDataset([1 2], [1 2 3]; output_shapes={shape[], shape[]}) ! same size in the 0th dimension",
    not_of_scalars: "TensorSliceDataset(1; output_shapes={shape[]}) ! component 0 is a scalar",
}
