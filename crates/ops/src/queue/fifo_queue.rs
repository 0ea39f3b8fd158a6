//! `FIFOQueue`, `FIFOQueueV2`: a queue whose items come out in the order in which they went in.

use super::queues::{generations, opener, opening, spec, typed};
use millstream_graph::op::OpDef;
use millstream_state::QueueKind;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["FIFOQueue", "FIFOQueueV2"], |name, by| {
        typed(opener(name, by, |cx| opening(cx, spec(QueueKind::Fifo, &cx.node.attrs)?))).doc(
            "The queue called `shared_name` (or as this node is) in `container`, made if there is none. Its items have a component of \
             each of `component_types`, of these `shapes` if there are any, and come out in the order in which they went in. It holds \
             `capacity` of them; a negative one is no bound.",
        )
    })
}

cases! {
    starts_empty: "QueueSizeV2(FIFOQueueV2(; component_types={f32})) = 0",
    starts_open: "QueueIsClosedV2(FIFOQueueV2(; component_types={f32, str})) = false",
    by_its_old_name: "QueueSize(FIFOQueue(; component_types={f32})) = 0",
    has_components: "FIFOQueueV2(; component_types={}) ! at least one component",
    shapes_for_all: "FIFOQueueV2(; component_types={f32, i32}, shapes={shape[]}) ! of 2 components was given 1 shapes",
}
