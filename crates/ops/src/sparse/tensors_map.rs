//! What the ops share that keep sparse tensors in a map: how they know it, and what is declared of it.

use crate::named::Named;
use millstream_graph::op::spec::{AnyType, Spec, Text};
use millstream_graph::op::{BuildCx, Effect, Gradient, Kernel, KernelCx, OpDef, Run};
use millstream_state::SparseTensorsMap;
use millstream_tensor::{Result, invalid};
use std::sync::Arc;

/// Declares what belongs to the map: the dtype of its values is the attribute `dtype`.
pub(super) fn mapped(def: OpDef, dtype: &'static str, make: fn(&BuildCx) -> Result<Box<dyn Run>>) -> OpDef {
    def.attr(dtype, AnyType)
        .attr("container", Text.or(""))
        .attr("shared_name", Text.or(""))
        .kernel(Kernel::build(Effect::Stateful, make))
        .gradient(Gradient::Missing("what a map keeps was computed by another run, as in TensorFlow"))
}

/// A kernel that works with the map under the node's names, made if there is none; its values have the dtype of this attribute.
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
