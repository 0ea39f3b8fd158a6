//! `StackClose`, `StackCloseV2`: releases the contents of a stack.

use super::stacks::{generations, stack};
use super::tensor_arrays::{HandleArg, kernel};
use millstream_graph::op::OpDef;

pub(crate) fn def() -> [OpDef; 2] {
    generations("StackClose", "StackCloseV2").map(|(name, by)| {
        OpDef::new(name)
            .doc(
                "Releases the contents of a stack before the step ends. The stack cannot be used \
                 afterwards.",
            )
            .handle_in(by, "handle")
            .infer(|_| Ok(()))
            .kernel(kernel(|cx| {
                stack(cx)?.close();
                Ok(())
            }))
    })
}

cases! {
    closes: "StackCloseV2(StackV2(-1; elem_type=i32)) =",
    closes_by_name: "StackClose(Stack(; elem_type=i32)) =",
    wants_a_stack: "StackCloseV2(@i32 1) ! refers to a variable",
}
