//! `DisableCopyOnRead`: a hint, in newer graphs, that readers of a variable may share its value.

use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::DType;

pub(crate) fn def() -> OpDef {
    OpDef::new("DisableCopyOnRead")
        .doc(
            "Has no effect. Reads of a variable always share its elements, and an update copies them only \
             if a reader still uses them.",
        )
        .input("resource", DType::Resource)
        .infer(|cx| cx.scalar(0))
        .kernel(Kernel::reads(|cx: &mut KernelCx| cx.resource::<Variable>(0).map(drop)))
}

cases! {
    leaves_the_value: "DisableCopyOnRead(@f32[2] [1 2]) = f32[2] [1 2]",
    infers: "DisableCopyOnRead(resource[]) :",
    wants_a_variable: "DisableCopyOnRead(1) ! `resource`",
}
