//! `ZipDataset`: the elements of several datasets side by side.

use super::datasets::{
    Data, Dataset, ENDLESS, Element, Optimized, Source, Spec, UNKNOWN, give, is_interrupt, makes, source,
    typed,
};
use millstream_graph::op::spec::AtLeast;
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("ZipDataset")
        .doc(
            "Returns a dataset whose elements have the components of an element of each input. It ends with \
             the shortest input.",
        )
        .inputs("input_datasets", "N", DType::Variant);
    makes(typed(def), run).attr("N", AtLeast(1)).infer(|cx| {
        (0..cx.n_inputs()).try_for_each(|i| cx.scalar(i))?;
        cx.scalars()
    })
}

struct Zip {
    inputs: Vec<Data>,
    spec: Spec,
}

impl Dataset for Zip {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn depth(&self) -> u32 {
        1 + self.inputs.iter().map(|input| input.depth()).max().unwrap_or(0)
    }
    fn optimized(&self, seen: &mut Optimized) -> Result<Option<Data>> {
        let Some(inputs) = Data::all_optimized(&self.inputs, seen)? else { return Ok(None) };
        let n = inputs.len();
        Data::new(Zip { inputs, spec: self.spec.clone() }, n).map(Some)
    }
    fn begin(&self, env: &StepEnv) -> Result<Source> {
        let mut inputs: Vec<Source> =
            self.inputs.iter().map(|input| input.begin(env)).collect::<Result<_>>()?;
        let mut held: Vec<Element> = Vec::new();
        Ok(source(move |env| {
            while let Some(input) = inputs.get_mut(held.len()) {
                match input.next(env) {
                    Ok(Some(part)) => held.push(part),
                    Ok(None) => return Ok(None),
                    Err(error) => {
                        if !is_interrupt(&error) {
                            held.clear();
                        }
                        return Err(error);
                    }
                }
            }
            Ok(Some(held.drain(..).flatten().collect()))
        }))
    }
    fn cardinality(&self) -> i64 {
        let counts = || self.inputs.iter().map(Data::cardinality);
        match counts().any(|n| n == UNKNOWN) {
            true => UNKNOWN,
            false => counts().filter(|n| *n != ENDLESS).min().unwrap_or(ENDLESS),
        }
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let inputs: Vec<Data> = (0..cx.n_inputs()).map(|i| Data::input(cx, i)).collect::<Result<_>>()?;
    let spec = Spec::of(cx.attrs())?;
    spec.check(&Spec {
        dtypes: inputs.iter().flat_map(|input| input.spec().dtypes.clone()).collect(),
        shapes: inputs.iter().flat_map(|input| input.spec().shapes.clone()).collect(),
    })?;
    give(cx, Zip { inputs, spec })
}

cases! {
    is_a_variant: "ZipDataset(variant[], variant[]; output_types={f32, i32}, output_shapes={shape[?], shape[]}) : variant[]",
    side_by_side: "DatasetToSingleElement(ZipDataset(TensorDataset(1; output_shapes={shape[]}), TensorDataset(2.5; output_shapes={shape[]}); output_types={i32, f32}, output_shapes={shape[], shape[]}); output_types={i32, f32}, output_shapes={shape[], shape[]}) = 1, 2.5",
    of_their_types: "ZipDataset(TensorDataset(1; output_shapes={shape[]}), TensorDataset(2.5; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) ! Number of components does not match: expected 1 types but got 2",
}
