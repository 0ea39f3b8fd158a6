//! `RandomShuffleQueue`, `RandomShuffleQueueV2`: a queue that dequeues items in random order.

use super::queues::{generations, opener, opening, spec, typed};
use millstream_graph::op::spec::{Int, Spec};
use millstream_graph::op::{BuildCx, OpDef, Run};
use millstream_state::{QueueKind, QueueSpec};
use millstream_tensor::{Result, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    generations(["RandomShuffleQueue", "RandomShuffleQueueV2"], |name, by| {
        typed(opener(name, by, make))
            .doc(
                "Returns a handle to a queue as FIFOQueueV2 does, which dequeues a randomly chosen item. \
                 Until it is closed, at least `min_after_dequeue` items stay in it, so that there is a \
                 choice. The choices are determined by `seed` and `seed2`, unless both are 0.",
            )
            .attr("min_after_dequeue", Int.or(0))
            .attr("seed", Int.or(0))
            .attr("seed2", Int.or(0))
    })
}

fn make(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let attrs = &cx.node.attrs;
    let held_back = attrs.int("min_after_dequeue")?;
    let min_after_dequeue = usize::try_from(held_back)
        .map_err(|_| invalid!("min_after_dequeue {held_back} must be >= 0"; "`min_after_dequeue` must not be negative, but is {held_back}"))?;
    let seeds = (attrs.int("seed")?, attrs.int("seed2")?);
    opening(cx, QueueSpec { min_after_dequeue, seeds, ..spec(QueueKind::RandomShuffle, attrs)? })
}

cases! {
    starts_empty: "QueueSizeV2(RandomShuffleQueueV2(; component_types={f32})) = 0",
    holds_back_what_it_can: "RandomShuffleQueueV2(; component_types={f32}, capacity=3, min_after_dequeue=3) ! cannot hold back min_after_dequeue = 3",
    holds_back_something: "RandomShuffleQueueV2(; component_types={f32}, min_after_dequeue=-1) ! `min_after_dequeue` must not be negative, but is -1",
}
