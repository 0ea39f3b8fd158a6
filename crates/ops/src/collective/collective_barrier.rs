//! `CollectiveBarrier`: waits for all ranks.

use super::calls::calling;
use millstream_graph::op::{KernelCx, OpDef};
use millstream_state::collective::{Call, What};
use millstream_tensor::{Result, Tensor};

pub(crate) fn def() -> OpDef {
    OpDef::new("CollectiveBarrier")
        .doc(
            "Waits until the node of this name runs in all processes of a job. With one process it does \
             nothing. Other nodes wait for it by a control input. TensorFlow's op `Barrier` is a data \
             structure, hence the longer name.",
        )
        .kernel(calling!(make))
}

fn make(_: &mut KernelCx) -> Result<Call> {
    Ok(Call { what: What::Barrier, value: Tensor::scalar(false), splits: Vec::new() })
}

cases! {
    alone: "CollectiveBarrier() =",
    infers: "CollectiveBarrier() :",
    takes_nothing: "CollectiveBarrier(1) ! CollectiveBarrier takes no inputs, got 1",
}
