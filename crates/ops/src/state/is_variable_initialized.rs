//! `VarIsInitializedOp`, `IsVariableInitialized`: whether a variable is initialized.

use super::target::VariableArgs;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::{DType, Result, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("VarIsInitializedOp").variable(false, "resource", ""),
        OpDef::new("IsVariableInitialized").variable(true, "ref", "dtype").attr("dtype", AnyType),
    ]
    .map(|def| {
        def.doc("Returns whether the variable has a value.")
            .output("is_initialized", DType::Bool)
            .infer(|cx| cx.scalars())
            .kernel(Kernel::reads(run))
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let has = cx.resource::<Variable>(0)?.is_initialized();
    cx.set(0, Tensor::scalar(has));
    Ok(())
}

cases! {
    has: "VarIsInitializedOp(@f32[2] [1 2]) = true",
    has_not: "VarIsInitializedOp(@f32[2]) = false",
    reference_has: "IsVariableInitialized(&f32[2] [1 2]) = true",
    reference_has_not: "IsVariableInitialized(&f32[2]) = false",
    is_a_scalar: "VarIsInitializedOp(resource[]) : bool[]",
    wants_a_reference: "IsVariableInitialized(1) ! `ref` must be a reference to a variable",
}
