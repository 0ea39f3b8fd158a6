//! `Merge`, `RefMerge`: passes on the input that is not dead.

use millstream_graph::op::spec::{AnyType, AtLeast};
use millstream_graph::op::{InferCx, Kernel, OpDef, Role};
use millstream_tensor::{DType, PartialShape, Result};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("Merge").inputs("inputs", "N", "T").output("output", "T"),
        OpDef::new("RefMerge").ref_inputs("inputs", "N", "T").ref_output("output", "T"),
    ]
    .map(|def| {
        def.doc("Returns the input that is available, and its index as `value_index`.")
            .output("value_index", DType::I32)
            .attr("T", AnyType)
            .attr("N", AtLeast(1))
            .infer(infer)
            .role(Role::Merge)
            .kernel(Kernel::structural())
    })
}

// The shape that all inputs have in common. Values are never known, even if those of all inputs are equal,
// because the inputs of a loop's merge take many values. The type of what a handle refers to is known if all
// inputs have the same.
fn infer(cx: &mut InferCx) -> Result<()> {
    let mut inputs = cx.inputs().iter();
    let first = inputs.next().cloned().unwrap_or_else(PartialShape::unknown);
    let shape = inputs.fold(first, |a, b| a.join(b));
    if let Some(first) = cx.handle(0) {
        let mut others = (1..cx.n_inputs()).map(|i| cx.handle(i).filter(|h| h.dtype == first.dtype));
        let joined = others.try_fold(first.shape.clone(), |a, b| Some(a.join(&b?.shape)));
        if let Some(joined) = joined {
            cx.set_handle(0, first.dtype, joined);
        }
    }
    cx.set(0, shape);
    cx.set(1, PartialShape::scalar());
    Ok(())
}

cases! {
    keeps_what_agrees: "Merge(f32[2,3], f32[2,4]) : f32[2,?], i32[]",
    different_ranks_are_unknown: "Merge(f32[2,3], f32[2]) : f32[..], i32[]",
    unknown_wins: "Merge(f32[2,3], f32[..]) : f32[..], i32[]",
    one_input: "Merge(f32[2,3]) : f32[2,3], i32[]",
    passes_references: "RefMerge(&i32[2], &i32[2]) : i32[2], i32[]",
    wants_equal_types: "Merge(f32[2], i32[2]) ! `inputs` is i32 but must be f32",
    wants_inputs: "Merge(; T=f32) ! attribute `N` is 0 but must be at least 1",
}
