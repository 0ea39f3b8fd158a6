//! `StackPush`, `StackPushV2`: pushes a tensor onto a stack.

use super::stacks::{generations, stack};
use super::tensor_arrays::{HandleArg, kernel};
use millstream_graph::op::spec::{AnyType, Bool, Spec};
use millstream_graph::op::{Gradient, KernelCx, OpDef};
use millstream_state::journal;
use millstream_tensor::Result;

pub(crate) fn def() -> [OpDef; 2] {
    generations("StackPush", "StackPushV2").map(|(name, by)| {
        OpDef::new(name)
            .doc(
                "Pushes `elem` onto the stack, and returns it. `swap_memory` has no effect here: the tensor \
                 stays in memory.",
            )
            .handle_in(by, "handle")
            .input("elem", "T")
            .output("output", "T")
            .attr("T", AnyType)
            .attr("swap_memory", Bool.or(false))
            .infer(|cx| {
                cx.pass(1, 0);
                Ok(())
            })
            .kernel(kernel(run).undoable())
            .gradient(Gradient::none("of stacks there is none, as in TensorFlow"))
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let stack = stack(cx)?;
    let elem = cx.take(1);
    stack.push(elem.clone())?;
    journal::note_push(&stack);
    cx.set(0, elem);
    Ok(())
}

cases! {
    passes_on: "StackPushV2(StackV2(-1; elem_type=i32), [1 2]; swap_memory=true) = [1 2]",
    old_form: "StackPush(Stack(; elem_type=i32), [1 2]) = [1 2]",
    infers: "StackPushV2(resource[], f32[?,3]) : f32[?,3]",
    of_one_dtype: "StackPushV2(StackV2(-1; elem_type=i32, stack_name=\"s\"), 1.0) ! stack `s` holds i32, not f32",
    wants_a_stack: "StackPushV2(@i32 1, 1.0) ! refers to a variable",
}
