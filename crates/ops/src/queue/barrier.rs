//! `Barrier`: elements whose components arrive one by one.

use crate::shared::handles::{By, Named, handle_shape};
use millstream_graph::Attr;
use millstream_graph::op::spec::{Int, ShapeList, Spec, Text, TypesFrom1};
use millstream_graph::op::{BuildCx, Gradient, Kernel, KernelCx, OpDef, Run};
use millstream_state::Barrier;
use millstream_tensor::{PartialShape, Result, ensure};

pub(crate) fn def() -> OpDef {
    By::Reference
        .output(OpDef::new("Barrier"), "handle")
        .doc(
            "Returns a handle to the barrier `shared_name` (by default, the node's name) in `container`, which \
             is created if it does not exist. A barrier holds elements with one value for each of \
             `component_types`, of the given `shapes`. BarrierInsertMany inserts the values of one component \
             under the keys of their elements; BarrierTakeMany takes elements that have all components, first \
             those whose keys were inserted first. `capacity` must be -1: a barrier is not bounded.",
        )
        .attr("component_types", TypesFrom1)
        .attr("shapes", ShapeList.or(Attr::List(Vec::new())))
        .attr("capacity", Int.or(-1))
        .attr("container", Text.or(""))
        .attr("shared_name", Text.or(""))
        .infer(handle_shape)
        .kernel(Kernel::opens(make))
        .gradient(Gradient::none("of barriers there is none, as in TensorFlow"))
}

fn make(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let (named, attrs) = (Named::or_private(cx.node)?, &cx.node.attrs);
    let capacity = attrs.int("capacity")?;
    ensure!(
        capacity == -1,
        "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to enforce a limited capacity.";
        "`capacity` is {capacity}"
    );
    let dtypes = attrs.dtypes("component_types")?;
    let shapes: Vec<PartialShape> = attrs.shapes("shapes")?.into_iter().cloned().collect();
    Ok(Box::new(move |cx: &mut KernelCx| {
        let handle = named.handle(cx, |resources, container, name| {
            let barrier =
                resources.get_or_create(container, name, || Barrier::new(name, &dtypes, &shapes))?;
            barrier.check_same(&dtypes, &shapes)?;
            Ok(barrier)
        })?;
        cx.set(0, handle);
        Ok(())
    }))
}

cases! {
    starts_empty: "BarrierReadySize(Barrier(; component_types={f32}, shapes={shape[]})) = 0",
    shapes_may_be_unknown: "BarrierIncompleteSize(Barrier(; component_types={f32}, shapes={shape[..]})) = 0",
    has_components: "Barrier(; component_types={}, shapes={}) ! `component_types` has 0 dtypes but must have at least 1",
    shapes_for_all: "Barrier(; component_types={f32}) ! All of the component shapes must be specified",
    of_known_dimensions: "Barrier(; component_types={f32}, shapes={shape[?]}) ! Shape [?] is not fully defined",
    is_not_bounded: "Barrier(; component_types={f32}, shapes={shape[]}, capacity=3) ! only accepts capacity=-1",
}
