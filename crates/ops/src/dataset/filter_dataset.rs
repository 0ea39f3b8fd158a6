//! `FilterDataset`: the elements for which a function returns true.

use super::datasets::{Called, Calls, How, Over, Source, calls, over, source, transforms};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    transforms("FilterDataset", run, |def| calls(def, "predicate", "other_arguments", "Targuments")).doc(
        "Returns a dataset of the elements for which `predicate` returns true. The function is given the \
         components of the element, then `other_arguments`.",
    )
}

struct Filter(Called);

impl How for Filter {
    fn begin(over: &Over<Filter>, env: &StepEnv) -> Result<Source> {
        let mut elements = Calls::over(over.input.begin(env)?);
        let f = over.how.0.clone();
        Ok(source(move |env| {
            loop {
                let judged =
                    elements.next(env, |element| Ok(f.call_bool(element, env)?.then(|| element.clone())))?;
                match judged {
                    None => return Ok(None),
                    Some(Some(element)) => return Ok(Some(element)),
                    Some(None) => {}
                }
            }
        }))
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let f = Called::of(cx, "predicate", "other_arguments")?;
    over(cx, Filter(f))
}

cases! {
    is_a_variant: "FilterDataset(variant[]; predicate=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    calls_a_function: "FilterDataset(TensorDataset(1; output_shapes={shape[]}); predicate=func(f), output_types={i32}, output_shapes={shape[]}) ! no function `f`",
}
