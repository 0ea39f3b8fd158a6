//! `Variable`, `VariableV2`: a reference to a variable.

use crate::named::Named;
use millstream_graph::op::spec::{AnyShape, AnyType, Spec, Text};
use millstream_graph::op::{BuildCx, InferCx, Kernel, KernelCx, NodeInfo, OpDef, Run};
use millstream_state::Variable;
use millstream_tensor::{PartialShape, Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    ["Variable", "VariableV2"].map(|name| {
        OpDef::new(name)
            .doc(
                "A reference to the variable called `shared_name` (or as this node is) in `container`, made if there is \
                 none. In the older `Variable` an empty `shape` says nothing.",
            )
            .ref_output("ref", "dtype")
            .attr("shape", AnyShape)
            .attr("dtype", AnyType)
            .attr("container", Text.or(""))
            .attr("shared_name", Text.or(""))
            .infer(infer)
            .kernel(Kernel::opens(named))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.set(0, shape(cx.node())?);
    Ok(())
}

fn shape(node: &NodeInfo) -> Result<PartialShape> {
    let shape = node.attrs.shape("shape")?;
    match node.op.name == "Variable" && shape.rank() == Some(0) {
        true => Ok(PartialShape::unknown()),
        false => Ok(shape.clone()),
    }
}

/// A kernel that gives the handle of the variable that the attributes name.
pub(super) fn named(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let (named, dtype, shape) = (Named::new(cx.node)?, cx.node.attrs.dtype("dtype")?, shape(cx.node)?);
    Ok(Box::new(move |cx: &mut KernelCx| {
        let handle = named.handle(cx, |resources, container, name| {
            let variable =
                resources.get_or_create(container, name, || Ok(Variable::new(name, dtype, shape.clone())))?;
            ensure!(
                variable.dtype() == dtype,
                "the variable `{name}` holds {} but `dtype` says {dtype}: two nodes share the name",
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
