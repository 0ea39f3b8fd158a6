//! `CollectiveRank`: the number of this process in its job.

use super::calls::scalar;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    OpDef::new("CollectiveRank")
        .doc("Returns the rank of the process that runs the graph in its job, from 0. With one process it is 0.")
        .output("rank", DType::I32)
        .infer(|cx| cx.scalars())
        .kernel(Kernel::stateful(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let rank = scalar(cx.env.collective.rank(), "the rank")?;
    cx.set(0, rank);
    Ok(())
}

cases! {
    alone: "CollectiveRank() = 0",
    is_a_scalar: "CollectiveRank() : i32[]",
    takes_nothing: "CollectiveRank(1) ! CollectiveRank takes no inputs, got 1",
}
