//! `ScanDataset`: the results of a function that carries a state from element to element.

use super::datasets::{Called, Calls, Element, How, Over, Source, UNKNOWN, calls, over, source, transforms};
use millstream_graph::op::spec::{Bool, Spec, TypesFrom1};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    ["ScanDataset", "ExperimentalScanDataset"].map(|name| {
        transforms(name, run, |def| {
            let def = def.input_list("initial_state", "Tstate");
            calls(def, "f", "other_arguments", "Targuments")
                .attr("Tstate", TypesFrom1)
                .attr("preserve_cardinality", Bool.or(false))
        })
        .doc(
            "Returns a dataset of what `f` returns for each element. The function is given the state, the \
             components of the element and `other_arguments`, and returns the next state first.",
        )
    })
}

struct Scan {
    initial: Element,
    f: Called,
    keeps_count: bool,
}

impl How for Scan {
    fn begin(over: &Over<Scan>, env: &StepEnv) -> Result<Source> {
        let mut elements = Calls::over(over.input.begin(env)?);
        let (f, spec, mut state) = (over.how.f.clone(), over.spec.clone(), over.how.initial.clone());
        Ok(source(move |env| {
            elements.next(env, |element| {
                let arguments: Element = state.iter().chain(element).cloned().collect();
                let mut results = f.call(&arguments, env)?;
                ensure!(
                    results.len() == state.len() + spec.dtypes.len(),
                    "the function of a scan must return {} values but returns {}",
                    state.len() + spec.dtypes.len(),
                    results.len()
                );
                let next: Element = results.drain(..state.len()).collect();
                for (i, (old, new)) in state.iter().zip(&next).enumerate() {
                    ensure!(
                        old.dtype() == new.dtype(),
                        "state {i} of a scan is {} at first, then {}",
                        old.dtype(),
                        new.dtype()
                    );
                }
                spec.check_element(&results)?;
                state = next;
                Ok(results)
            })
        }))
    }

    fn cardinality(over: &Over<Scan>) -> i64 {
        if over.how.keeps_count { over.input.cardinality() } else { UNKNOWN }
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let f = Called::of(cx, "f", "other_arguments")?;
    let range = cx.node.input_range("initial_state")?;
    let initial = cx.inputs()[range].iter().map(|value| value.clone().kept()).collect::<Result<_>>()?;
    let keeps_count = cx.attrs().bool("preserve_cardinality")?;
    over(cx, Scan { initial, f, keeps_count })
}

cases! {
    is_a_variant: "ScanDataset(variant[], f32[]; f=func(f), Tstate={f32}, output_types={f32}, output_shapes={shape[?]}) : variant[]",
    by_its_old_name: "ExperimentalScanDataset(variant[], f32[]; f=func(f), Tstate={f32}, output_types={f32}, output_shapes={shape[?]}) : variant[]",
    calls_a_function: "ScanDataset(TensorDataset(1; output_shapes={shape[]}), 1; f=func(f), Tstate={i32}, output_types={i32}, output_shapes={shape[]}) ! no function `f`",
}
