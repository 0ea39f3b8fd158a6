//! `PriorityQueue`, `PriorityQueueV2`: a queue ordered by priority.

use super::queues::{generations, opener, opening, spec};
use millstream_graph::Attr;
use millstream_graph::op::spec::{ShapeList, Spec, TypeList};
use millstream_graph::op::{BuildCx, OpDef, Run};
use millstream_state::QueueKind;
use millstream_tensor::{DType, PartialShape, Result};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["PriorityQueue", "PriorityQueueV2"], |name, by| {
        opener(name, by, make)
            .doc(
                "Returns a handle to a queue as FIFOQueueV2 does, whose items begin with an additional \
                 component, the priority, an int64 scalar. The item with the smallest priority is dequeued \
                 first; of equal ones, the one that was enqueued first.",
            )
            .attr("component_types", TypeList.or(Attr::List(Vec::new())))
            .attr("shapes", ShapeList)
    })
}

fn make(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let mut spec = spec(QueueKind::Priority, &cx.node.attrs)?;
    spec.dtypes.insert(0, DType::I64);
    // A queue of priorities alone has known shapes.
    match &mut spec.shapes {
        Some(shapes) => shapes.insert(0, PartialShape::unknown_of_rank(0)),
        None if spec.dtypes.len() == 1 => spec.shapes = Some(vec![PartialShape::unknown_of_rank(0)]),
        None => {}
    }
    opening(cx, spec)
}

cases! {
    starts_empty: "QueueSizeV2(PriorityQueueV2(; component_types={f32}, shapes={})) = 0",
    may_be_priorities_alone: "QueueDequeueManyV2(PriorityQueueV2(; shapes={}), 0; component_types={i64}) = i64[0] []",
    needs_shapes: "PriorityQueueV2(; component_types={f32}) ! PriorityQueueV2 needs the attribute `shapes`",
    of_scalar_priorities: "QueueEnqueueV2(PriorityQueueV2(; component_types={f32}, shapes={}), i64[1] [1], 1.0) ! must be a scalar, not of shape [1]",
    of_whole_priorities: "QueueEnqueueV2(PriorityQueueV2(; component_types={f32}, shapes={}), 1.0, 1.0) ! component 0 of PriorityQueue",
}
