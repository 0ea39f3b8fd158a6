//! `TakeWhileDataset`: the elements before the first for which a function returns false.

use super::datasets::{Called, Calls, How, Over, Source, calls, over, source, transforms};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::Result;

pub(crate) fn def() -> [OpDef; 2] {
    ["TakeWhileDataset", "ExperimentalTakeWhileDataset"].map(|name| {
        transforms(name, run, |def| calls(def, "predicate", "other_arguments", "Targuments")).doc(
            "Returns a dataset of the elements before the first for which `predicate` returns false. The \
             function is given the components of the element, then `other_arguments`.",
        )
    })
}

struct While(Called);

impl How for While {
    fn begin(over: &Over<While>, env: &StepEnv) -> Result<Source> {
        let mut elements = Calls::over(over.input.begin(env)?);
        let f = over.how.0.clone();
        Ok(source(move |env| {
            let judged =
                elements.next(env, |element| Ok(f.call_bool(element, env)?.then(|| element.clone())))?;
            Ok(judged.flatten())
        }))
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let f = Called::of(cx, "predicate", "other_arguments")?;
    over(cx, While(f))
}

cases! {
    is_a_variant: "TakeWhileDataset(variant[]; predicate=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    by_its_old_name: "ExperimentalTakeWhileDataset(variant[]; predicate=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    calls_a_function: "TakeWhileDataset(TensorDataset(1; output_shapes={shape[]}); predicate=func(f), output_types={i32}, output_shapes={shape[]}) ! no function `f`",
}
