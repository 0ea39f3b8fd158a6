//! `Variable`, `VariableV2`: a reference to a variable.

use crate::shared::handles::Named;
use millstream_graph::op::spec::{AnyShape, AnyType, Spec, Text};
use millstream_graph::op::{BuildCx, InferCx, Kernel, KernelCx, OpDef, Run};
use millstream_state::Variable;
use millstream_tensor::{PartialShape, Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    let variable = |name| {
        OpDef::new(name)
            .doc(
                "Returns a reference to the variable `shared_name` (by default, the node's name) in \
                 `container`, which is created if it does not exist. In the older `Variable`, an empty \
                 `shape` means an unknown shape.",
            )
            .ref_output("ref", "dtype")
            .attr("shape", AnyShape)
            .attr("dtype", AnyType)
            .attr("container", Text.or(""))
            .attr("shared_name", Text.or(""))
    };
    [
        variable("Variable")
            .infer(|cx| infer(cx, unless_scalar))
            .kernel(Kernel::opens(|cx| named(cx, unless_scalar))),
        variable("VariableV2")
            .infer(|cx| infer(cx, PartialShape::clone))
            .kernel(Kernel::opens(|cx| named(cx, PartialShape::clone))),
    ]
}

/// The values' shape that the attribute `shape` gives.
type Read = fn(&PartialShape) -> PartialShape;

fn infer(cx: &mut InferCx, read: Read) -> Result<()> {
    cx.set(0, read(cx.attrs().shape("shape")?));
    Ok(())
}

/// In the older `Variable` an empty shape says nothing.
fn unless_scalar(shape: &PartialShape) -> PartialShape {
    match shape.rank() {
        Some(0) => PartialShape::unknown(),
        _ => shape.clone(),
    }
}

/// Returns a kernel that opens the variable named by the attributes.
pub(super) fn named(cx: &BuildCx, read: Read) -> Result<Box<dyn Run>> {
    let (named, dtype, shape) =
        (Named::new(cx.node)?, cx.node.attrs.dtype("dtype")?, read(cx.node.attrs.shape("shape")?));
    Ok(Box::new(move |cx: &mut KernelCx| {
        let handle = named.handle(cx, |resources, container, name| {
            let variable =
                resources.get_or_create(container, name, || Ok(Variable::new(name, dtype, shape.clone())))?;
            ensure!(
                variable.dtype() == dtype,
                "the variable `{name}` holds {} but `dtype` is {dtype}: two nodes share the name",
                variable.dtype()
            );
            Ok(variable)
        })?;
        cx.set(0, handle);
        Ok(())
    }))
}

cases! {
    has_a_shape: "VariableV2(; dtype=f32, shape=shape[2,3]) : f32[2,3]",
    may_be_a_scalar: "VariableV2(; dtype=i32, shape=shape[]) : i32[]",
    old_scalars_are_unknown: "Variable(; dtype=i32, shape=shape[]) : i32[..]",
    has_no_value_at_first: "VariableV2(; dtype=i32, shape=shape[]) ! variable `case` is used before it has a value",
    needs_a_shape: "VariableV2(; dtype=f32) ! VariableV2 needs the attribute `shape`",
}
