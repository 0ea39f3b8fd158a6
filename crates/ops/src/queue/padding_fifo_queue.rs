//! `PaddingFIFOQueue`, `PaddingFIFOQueueV2`: a first-in, first-out queue that pads items of different sizes
//! to batches.

use super::queues::{generations, opener, opening, spec, typed};
use millstream_graph::op::OpDef;
use millstream_state::QueueKind;

pub(crate) fn def() -> [OpDef; 2] {
    generations(["PaddingFIFOQueue", "PaddingFIFOQueueV2"], |name, by| {
        typed(opener(name, by, |cx| opening(cx, spec(QueueKind::PaddingFifo, &cx.node.attrs)?))).doc(
            "Returns a handle to a queue as FIFOQueueV2 does, but `shapes` may have unknown dimensions. In \
             a batch, such a dimension has the size of the largest item, and smaller items are padded at \
             the end with zeros, false or empty strings.",
        )
    })
}

cases! {
    starts_empty: "QueueSizeV2(PaddingFIFOQueueV2(; component_types={f32}, shapes={shape[?]})) = 0",
    needs_shapes: "PaddingFIFOQueueV2(; component_types={f32}) ! needs the shapes of its components",
    an_empty_batch: "QueueDequeueManyV2(PaddingFIFOQueueV2(; component_types={f32}, shapes={shape[?,3]}), 0; component_types={f32}) = f32[0,0,3] []",
}
