//! `DirectedInterleaveDataset`: elements of several datasets, in the order that another dataset says.

use super::datasets::{Calls, Data, Dataset, Optimized, Source, Spec, give, makes, source, typed};
use millstream_graph::op::spec::AtLeast;
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result, ensure, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    ["DirectedInterleaveDataset", "ExperimentalDirectedInterleaveDataset"].map(|name| {
        let def = OpDef::new(name)
            .doc(
                "Returns a dataset whose next element comes from the input with the number that \
                 `selector_input_dataset` gives next. A number of an input that has ended is passed over. The \
                 dataset ends with the numbers, or when all inputs have ended.",
            )
            .input("selector_input_dataset", DType::Variant)
            .inputs("data_input_datasets", "N", DType::Variant);
        makes(typed(def), run).attr("N", AtLeast(1)).infer(|cx| {
            (0..cx.n_inputs()).try_for_each(|i| cx.scalar(i))?;
            cx.scalars()
        })
    })
}

struct Directed {
    selector: Data,
    inputs: Vec<Data>,
    spec: Spec,
}

impl Dataset for Directed {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn depth(&self) -> u32 {
        let inputs = self.inputs.iter().chain([&self.selector]);
        1 + inputs.map(Data::depth).max().unwrap_or(0)
    }
    fn optimized(&self, seen: &mut Optimized) -> Result<Option<Data>> {
        let (selector, inputs) = (self.selector.optimized(seen)?, Data::all_optimized(&self.inputs, seen)?);
        if selector.is_none() && inputs.is_none() {
            return Ok(None);
        }
        let (selector, inputs) =
            (selector.unwrap_or(self.selector.clone()), inputs.unwrap_or(self.inputs.clone()));
        let n = inputs.len();
        Data::new(Directed { selector, inputs, spec: self.spec.clone() }, n).map(Some)
    }
    fn begin(&self, env: &StepEnv) -> Result<Source> {
        // An interrupted run goes on with the number that it was at.
        let mut numbers = Calls::over(self.selector.begin(env)?);
        let inputs = self.inputs.iter().map(|input| input.begin(env).map(Some)).collect::<Result<Vec<_>>>();
        let mut inputs: Vec<Option<Source>> = inputs?;
        Ok(source(move |env| {
            loop {
                if inputs.iter().all(Option::is_none) {
                    return Ok(None);
                }
                let next = numbers.next(env, |number| {
                    let number = number.first().and_then(|t| t.to_scalar::<i64>().ok());
                    let number =
                        number.ok_or_else(|| invalid!("a selected number must be a scalar int64"))?;
                    let at = usize::try_from(number).ok().filter(|at| *at < inputs.len());
                    let at = at.ok_or_else(|| {
                        invalid!(
                            "Selector index out of range: {number} >= {}", inputs.len();
                            "there are {} datasets to select from, with numbers from 0", inputs.len()
                        )
                    })?;
                    let next = match &mut inputs[at] {
                        Some(input) => input.next(env)?,
                        None => None,
                    };
                    if next.is_none() {
                        inputs[at] = None;
                    }
                    Ok(next)
                })?;
                match next {
                    None => return Ok(None),
                    Some(None) => {}
                    Some(element) => return Ok(element),
                }
            }
        }))
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let selector = Data::input(cx, 0)?;
    ensure!(
        Spec::scalar(DType::I64).check(selector.spec()).is_ok(),
        "The selector input must be a dataset of scalar int64 elements."
    );
    let inputs: Vec<Data> = (1..cx.n_inputs()).map(|i| Data::input(cx, i)).collect::<Result<_>>()?;
    let spec = Spec::of(cx.attrs())?;
    for (i, input) in inputs.iter().enumerate() {
        spec.check(input.spec()).map_err(|e| {
            let words = "All inputs must have the same output_dtypes.";
            e.led_by(format!("{words} Input {i} has others than the elements of the result."))
        })?;
    }
    give(cx, Directed { selector, inputs, spec })
}

cases! {
    is_a_variant: "DirectedInterleaveDataset(variant[], variant[], variant[]; output_types={i32}, output_shapes={shape[]}) : variant[]",
    chosen: "DatasetToSingleElement(BatchDataset(DirectedInterleaveDataset(TensorSliceDataset(i64 [1 0 0 1]; output_shapes={shape[]}), TensorSliceDataset([1 2]; output_shapes={shape[]}), TensorSliceDataset([7 8]; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}), i64 9; output_types={i32}, output_shapes={shape[?]}); output_types={i32}, output_shapes={shape[?]}) = [7 1 2 8]",
    passes_over_the_end: "DatasetToSingleElement(BatchDataset(ExperimentalDirectedInterleaveDataset(TensorSliceDataset(i64 [0 0 0 1]; output_shapes={shape[]}), TensorSliceDataset([1]; output_shapes={shape[]}), TensorSliceDataset([7 8]; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}), i64 9; output_types={i32}, output_shapes={shape[?]}); output_types={i32}, output_shapes={shape[?]}) = [1 7]",
    one_of_them: "DatasetToSingleElement(DirectedInterleaveDataset(TensorDataset(i64 1; output_shapes={shape[]}), TensorDataset(5; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) ! Selector index out of range: 1 >= 1",
    by_integers: "DirectedInterleaveDataset(TensorDataset(1; output_shapes={shape[]}), TensorDataset(5; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) ! The selector input must be a dataset of scalar int64 elements.",
    of_one_type: "DirectedInterleaveDataset(TensorDataset(i64 0; output_shapes={shape[]}), TensorDataset(5.0; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) ! Data type mismatch at component 0",
}
