//! Helpers of the ops that store sparse tensors in a map: the declaration, and the kernel that opens the map.

use crate::shared::handles::Named;
use millstream_graph::op::spec::{AnyType, Spec, Text};
use millstream_graph::op::{BuildCx, Effect, Gradient, Kernel, KernelCx, OpDef, Run};
use millstream_state::SparseTensorsMap;
use millstream_tensor::{Result, invalid};
use std::sync::Arc;

/// Declares the attributes of the map. The dtype of its values is the attribute `dtype`.
pub(super) fn mapped(def: OpDef, dtype: &'static str, make: fn(&BuildCx) -> Result<Box<dyn Run>>) -> OpDef {
    def.attr(dtype, AnyType)
        .attr("container", Text.or(""))
        .attr("shared_name", Text.or(""))
        .kernel(Kernel::build(Effect::Stateful, make))
        .gradient(Gradient::Missing("what a map keeps was computed by another run, as in TensorFlow"))
}

/// Returns a kernel that runs with the map named by the node, which is created if it does not exist. Its
/// values have the dtype of the attribute `dtype`.
pub(super) fn with_map(
    cx: &BuildCx,
    dtype: &'static str,
    run: fn(&mut KernelCx, &SparseTensorsMap) -> Result<()>,
) -> Result<Box<dyn Run>> {
    let (named, dtype) = (Named::new(cx.node)?, cx.node.attrs.dtype(dtype)?);
    Ok(Box::new(move |cx: &mut KernelCx| {
        let handle = named.handle(cx, |resources, container, name| {
            resources.get_or_create(container, name, || Ok(SparseTensorsMap::new(name, dtype)))
        })?;
        let map: Option<Arc<SparseTensorsMap>> =
            handle.as_handles().and_then(|handles| handles.first()?.share());
        let map = map.ok_or_else(|| invalid!("the map of sparse tensors is not there"))?;
        map.check_dtype(dtype)?;
        run(cx, &map)
    }))
}
