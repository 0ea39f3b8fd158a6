//! `Placeholder`, `PlaceholderV2`: a value that must be fed.

use millstream_graph::op::spec::{AnyShape, AnyType, Spec};
use millstream_graph::op::{InferCx, Kernel, OpDef, Role};
use millstream_tensor::{PartialShape, Result};

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("Placeholder").attr("dtype", AnyType).attr("shape", AnyShape.or(PartialShape::unknown())),
        OpDef::new("PlaceholderV2").attr("dtype", AnyType).attr("shape", AnyShape),
    ]
    .map(|def| {
        def.doc("A tensor of dtype `dtype` and shape `shape` that must be fed to every run that needs it.")
            .output("output", "dtype")
            .infer(infer)
            .role(Role::Placeholder)
            .kernel(Kernel::structural())
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.set(0, cx.attrs().shape("shape")?.clone());
    Ok(())
}

cases! {
    may_have_any_shape: "Placeholder(; dtype=f32) : f32[..]",
    keeps_unknown_dims: "Placeholder(; dtype=i64, shape=shape[?,3]) : i64[?,3]",
    empty_shape_is_a_scalar: "Placeholder(; dtype=i64, shape=shape[]) : i64[]",
    v2_declares_a_shape: "PlaceholderV2(; dtype=bool, shape=shape[2]) : bool[2]",
    v2_needs_a_shape: "PlaceholderV2(; dtype=bool) ! PlaceholderV2 needs the attribute `shape`",
    needs_a_dtype: "Placeholder() ! Placeholder needs the attribute `dtype`",
}
