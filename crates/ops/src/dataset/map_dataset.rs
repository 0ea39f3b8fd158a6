//! `MapDataset`, `ParallelMapDataset`: the results of a function for each element.

use super::datasets::{Called, Calls, How, Over, Source, UNKNOWN, calls, over, source, transforms};
use millstream_graph::op::spec::{Bool, Spec};
use millstream_graph::op::{KernelCx, OpDef, StepEnv};
use millstream_tensor::{DType, Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    let common = |def: OpDef| {
        def.attr("use_inter_op_parallelism", Bool.or(true)).attr("preserve_cardinality", Bool.or(false))
    };
    [
        transforms("MapDataset", run, |def| common(calls(def, "f", "other_arguments", "Targuments"))).doc(
            "Returns a dataset of the results of `f` for each element. The function is given the components \
             of the element, then `other_arguments`.",
        ),
        transforms("ParallelMapDataset", parallel, |def| {
            let def = calls(def, "f", "other_arguments", "Targuments");
            common(def.input("num_parallel_calls", DType::I32)).attr("sloppy", Bool.or(false))
        })
        .doc(
            "Returns a dataset of the results of `f` for each element, in their order. `num_parallel_calls`, \
             which must be positive or -1, does not change the result.",
        ),
    ]
}

/// The results of a function.
pub(super) struct Map {
    pub f: Called,
    /// The attribute `preserve_cardinality`: whether the function does not end the dataset.
    pub keeps_count: bool,
}

impl How for Map {
    fn begin(over: &Over<Map>, env: &StepEnv) -> Result<Source> {
        let mut elements = Calls::over(over.input.begin(env)?);
        let (f, spec) = (over.how.f.clone(), over.spec.clone());
        Ok(source(move |env| elements.next(env, |element| f.call_for(element, &spec, env))))
    }

    fn cardinality(over: &Over<Map>) -> i64 {
        if over.how.keeps_count { over.input.cardinality() } else { UNKNOWN }
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let f = Called::of(cx, "f", "other_arguments")?;
    let keeps_count = cx.attrs().bool("preserve_cardinality")?;
    over(cx, Map { f, keeps_count })
}

fn parallel(cx: &mut KernelCx) -> Result<()> {
    let n = cx.int(cx.n_inputs() - 1)?;
    ensure!(n > 0 || n == -1, "num_parallel_calls must be greater than zero.");
    run(cx)
}

cases! {
    is_a_variant: "MapDataset(variant[], f32[2]; f=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    in_parallel: "ParallelMapDataset(variant[], f32[2], i32[]; f=func(f), output_types={f32}, output_shapes={shape[?]}) : variant[]",
    calls_a_function: "MapDataset(TensorDataset(1; output_shapes={shape[]}); f=func(f), output_types={f32}, output_shapes={shape[?]}) ! no function `f`",
    at_least_one_call: "ParallelMapDataset(TensorDataset(1; output_shapes={shape[]}), 0; f=func(f), output_types={f32}, output_shapes={shape[?]}) ! num_parallel_calls must be greater than zero",
}
