//! `TensorDataset`: a dataset of one element.

use super::datasets::{Dataset, Element, Source, Spec, give, makes, source};
use millstream_graph::op::spec::{ShapeList, TypesFrom1};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("TensorDataset")
        .doc("Returns a dataset whose only element has these components.")
        .input_list("components", "Toutput_types")
        .attr("Toutput_types", TypesFrom1)
        .attr("output_shapes", ShapeList);
    makes(def, run)
}

struct One {
    element: Element,
    spec: Spec,
}

impl Dataset for One {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn begin(&self, _env: &StepEnv) -> Result<Source> {
        let mut left = Some(self.element.clone());
        Ok(source(move |_| Ok(left.take())))
    }
    fn cardinality(&self) -> i64 {
        1
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let spec = Spec::named(cx.attrs(), "Toutput_types")?;
    let element: Element = (0..cx.n_inputs()).map(|i| cx.take(i).kept()).collect::<Result<_>>()?;
    spec.check_element(&element)?;
    give(cx, One { element, spec })
}

cases! {
    is_a_variant: "TensorDataset(f32[?,3], str[]; output_shapes={shape[?,3], shape[]}) : variant[]",
    one_shape_each: "TensorDataset(1, 2; output_shapes={shape[]}) ! `Toutput_types` has 2 entries but `output_shapes` 1",
    reduced: "DatasetToSingleElement(TensorDataset([1 2]; output_shapes={shape[2]}); output_types={i32}, output_shapes={shape[2]}) = [1 2]",
}
