//! `FIFOQueue`, `FIFOQueueV2`: a first-in, first-out queue.

use super::queues::{generations, opener, opening, spec, typed};
use millstream_graph::op::OpDef;
use millstream_state::QueueKind;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["FIFOQueue", "FIFOQueueV2"], |name, by| {
        typed(opener(name, by, |cx| opening(cx, spec(QueueKind::Fifo, &cx.node.attrs)?))).doc(
            "Returns a handle to the first-in, first-out queue `shared_name` (by default, the node's name) \
             in `container`, which is created if it does not exist. An item has one component for each of \
             `component_types`, of the given `shapes` if there are any. The queue holds up to `capacity` \
             items; a negative capacity is unlimited.",
        )
    })
}

cases! {
    starts_empty: "QueueSizeV2(FIFOQueueV2(; component_types={f32})) = 0",
    starts_open: "QueueIsClosedV2(FIFOQueueV2(; component_types={f32, str})) = false",
    by_its_old_name: "QueueSize(FIFOQueue(; component_types={f32})) = 0",
    has_components: "FIFOQueueV2(; component_types={}) ! `component_types` has 0 dtypes but must have at least 1",
    shapes_for_all: "FIFOQueueV2(; component_types={f32, i32}, shapes={shape[]}) ! of 2 components was given 1 shapes",
}
