//! `StackPop`, `StackPopV2`: pops a tensor from a stack.

use super::stacks::{generations, stack};
use super::tensor_arrays::{HandleArg, kernel};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Gradient, InferCx, KernelCx, OpDef};
use millstream_state::journal;
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    generations("StackPop", "StackPopV2").map(|(name, by)| {
        OpDef::new(name)
            .doc("Removes the tensor that was pushed last from the stack, and returns it.")
            .handle_in(by, "handle")
            .output("elem", "elem_type")
            .attr("elem_type", AnyType)
            .infer(infer)
            .kernel(kernel(run).undoable())
            .gradient(Gradient::none("of stacks there is none, as in TensorFlow"))
    })
}

// What a graph knows of a stack is nothing. Where a loop is compiled in a run, the stack is at hand.
fn infer(cx: &mut InferCx) -> Result<()> {
    if let Some(items) = cx.handle(0)
        && items.dtype == cx.attrs().dtype("elem_type")?
    {
        cx.set(0, items.shape.clone());
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (stack, wanted) = (stack(cx)?, cx.attrs().dtype("elem_type")?);
    ensure!(stack.dtype() == wanted, "{stack:?} holds {}, but `elem_type` is {wanted}", stack.dtype());
    let elem = stack.pop()?;
    journal::note_pop(&stack, &elem);
    cx.set(0, elem);
    Ok(())
}

cases! {
    infers_nothing: "StackPopV2(resource[]; elem_type=f32) : f32[..]",
    empty: "StackPopV2(StackV2(-1; elem_type=i32, stack_name=\"s\"); elem_type=i32) ! stack `s` is empty",
    empty_by_name: "StackPop(Stack(; elem_type=i32, stack_name=\"s\"); elem_type=i32) ! stack `s` is empty",
    of_one_dtype: "StackPopV2(StackV2(-1; elem_type=i32, stack_name=\"s\"); elem_type=f32) ! stack `s` holds i32, but `elem_type` is f32",
    wants_a_stack: "StackPopV2(@i32 1; elem_type=i32) ! refers to a variable",
    no_array: "StackPopV2(TensorArrayV3(1; dtype=i32); elem_type=i32) ! refers to a TensorArray",
}
