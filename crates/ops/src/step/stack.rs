//! `Stack`, `StackV2`: a stack that lives for one step.

use super::stacks::generations;
use super::tensor_arrays::{By, HandleArg, kernel, new_handle};
use millstream_graph::op::spec::{AnyType, Spec, Text};
use millstream_graph::op::{Gradient, InferCx, KernelCx, OpDef};
use millstream_state::Stack;
use millstream_tensor::{DType, PartialShape, Result};
use std::sync::Arc;

pub(crate) fn def() -> [OpDef; 2] {
    generations("Stack", "StackV2").map(|(name, by)| {
        let def = OpDef::new(name).doc(
            "Creates a stack of `elem_type` tensors that lives for one step. It carries values from a \
             forward loop to the backward loop. Pushing more than `max_size` tensors (StackV2 only) is an \
             error unless `max_size` is negative.",
        );
        let def = if by == By::Resource { def.input("max_size", DType::I32).on_host() } else { def };
        def.handle_out(by, "handle")
            .attr("elem_type", AnyType)
            .attr("stack_name", Text.or(""))
            .infer(infer)
            .kernel(kernel(run))
            .gradient(Gradient::none("of stacks there is none, as in TensorFlow"))
    })
}

// The handle's shape stays unknown, because TensorFlow takes it for a vector of two.
fn infer(cx: &mut InferCx) -> Result<()> {
    if cx.n_inputs() > 0 {
        cx.scalar(0)?;
    }
    cx.set(0, PartialShape::unknown());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let max = if cx.n_inputs() > 0 { usize::try_from(cx.int(0)?).ok() } else { None };
    let given = cx.attrs().str("stack_name")?.text();
    let name = if given.is_empty() { cx.node.name.as_str() } else { &*given };
    let stack = Arc::new(Stack::new(name, cx.attrs().dtype("elem_type")?, max));
    let handle = new_handle(cx, name, stack)?;
    cx.set(0, handle);
    Ok(())
}

cases! {
    is_a_handle: "StackV2(i32[]; elem_type=f32) : resource[..]",
    the_old_one_is_a_name: "Stack(; elem_type=f32) : str[..]",
    one_size: "StackV2([1 2]; elem_type=f32) ! `max_size` must be a scalar",
    has_a_size: "StackPushV2(StackV2(0; elem_type=f32, stack_name=\"s\"), 1.0) ! stack `s` is full",
}
