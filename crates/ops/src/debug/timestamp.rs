//! `Timestamp`: the current time.

use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Tensor};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn def() -> OpDef {
    OpDef::new("Timestamp")
        .doc("Returns the time at which the op runs, in seconds since the start of 1970 (UTC).")
        .output("ts", DType::F64)
        .infer(|cx| cx.scalars())
        .kernel(Kernel::stateful(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    cx.set(0, Tensor::scalar(since.as_secs_f64()));
    Ok(())
}

cases! {
    is_a_scalar: "Timestamp() : f64[]",
    takes_nothing: "Timestamp(1) ! Timestamp takes no inputs, got 1",
}
