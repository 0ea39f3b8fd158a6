//! `ReduceDataset`: the state that a function has after all elements.

use super::datasets::{Called, Data, Element, Spec, calls, typed};
use millstream_graph::op::spec::{Bool, Spec as _, TypesFrom1};
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("ReduceDataset")
        .doc(
            "Returns the state after all elements of the dataset. The function is given the state, the \
             components of an element and `other_arguments`, and returns the next state.",
        )
        .input("input_dataset", DType::Variant)
        .input_list("initial_state", "Tstate");
    typed(calls(def, "f", "other_arguments", "Targuments"))
        .output_list("components", "output_types")
        .attr("Tstate", TypesFrom1)
        .attr("use_inter_op_parallelism", Bool.or(true))
        .infer(super::iterators::infer)
        .kernel(Kernel::stateful(run).cost(Cost::Estimate(|_, _| 1e7)))
        .gradient(Gradient::none("datasets carry no gradients, as in TensorFlow"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (input, spec) = (Data::input(cx, 0)?, Spec::of(cx.attrs())?);
    let f = Called::of(cx, "f", "other_arguments")?;
    let range = cx.node.input_range("initial_state")?;
    let mut state: Element = cx.inputs()[range].iter().cloned().collect();
    let mut pass = input.begin(cx.env)?;
    while let Some(element) = pass.next(cx.env)? {
        let arguments: Element = state.into_iter().chain(element).collect();
        state = f.call_for(&arguments, &spec, cx.env)?;
    }
    spec.check_element(&state)?;
    state.into_iter().enumerate().for_each(|(i, value)| cx.set(i, value));
    Ok(())
}

cases! {
    knows_types: "ReduceDataset(variant[], f32[2]; f=func(f), Tstate={f32}, output_types={f32}, output_shapes={shape[2]}) : f32[2]",
    calls_a_function: "ReduceDataset(TensorDataset(1; output_shapes={shape[]}), 1; f=func(f), Tstate={i32}, output_types={i32}, output_shapes={shape[]}) ! no function `f`",
}
