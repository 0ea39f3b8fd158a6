//! `CollectiveSize`: the number of processes of the job.

use super::calls::scalar;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    OpDef::new("CollectiveSize")
        .doc("Returns the number of processes of the job that runs the graph. By default it is 1.")
        .output("size", DType::I32)
        .infer(|cx| cx.scalars())
        .kernel(Kernel::stateful(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let size = scalar(cx.env.collective.size(), "the number of ranks")?;
    cx.set(0, size);
    Ok(())
}

cases! {
    alone: "CollectiveSize() = 1",
    is_a_scalar: "CollectiveSize() : i32[]",
    takes_nothing: "CollectiveSize(1) ! CollectiveSize takes no inputs, got 1",
}
