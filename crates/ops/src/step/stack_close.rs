//! `StackClose`, `StackCloseV2`: gives up what a stack holds.

use super::arrays::{HandleArg, kernel};
use super::stacks::{generations, stack};
use millstream_graph::op::OpDef;

pub(crate) fn def() -> [OpDef; 2] {
    generations("StackClose", "StackCloseV2").map(|(name, by)| {
        OpDef::new(name)
            .doc("Gives up what the stack holds, before the step ends. It cannot be used afterwards.")
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
