//! `Broadcast`: the value of one rank.

use super::calls::{PLAIN, call, calling};
use millstream_graph::op::spec::{AtLeast, Spec};
use millstream_graph::op::{GradCx, Gradient, KernelCx, OpDef};
use millstream_state::collective::{Call, What};
use millstream_tensor::{Result, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("Broadcast")
        .doc(
            "Returns in every process of a job the value that rank `root_rank` has for `input`. The shapes of \
             all ranks must be equal. The op waits until the node of this name runs in all processes. With \
             one process the output is the input. To broadcast a shape within a process, use `BroadcastTo`.",
        )
        .input("input", "T")
        .output("output", "T")
        .attr("T", PLAIN)
        .attr("root_rank", AtLeast(0).or(0))
        .infer(|cx| cx.same_as_input())
        .kernel(calling!(make))
        .gradient(Gradient::of(grad))
}

fn make(cx: &mut KernelCx) -> Result<Call> {
    let root = cx.attrs().int("root_rank")?;
    let root = root.try_into().map_err(|_| invalid!("`root_rank` is {root}"))?;
    call(cx, What::Broadcast { root })
}

// All outputs are the root's input, whose gradient is their sum. The other inputs are not used.
fn grad(cx: &mut GradCx) -> Result<()> {
    let root = i32::try_from(cx.attrs().int("root_rank")?);
    let root = root.map_err(|_| invalid!("`root_rank` does not fit in 32 bits"))?;
    let dy = cx.grad(0);
    let sum = cx.op("AllReduce").input(dy).output();
    let is_root = cx.op("Equal").input(cx.op("CollectiveRank").output()).input(root).output();
    let zeros = cx.zeros_like(sum);
    cx.give(0, cx.op("SelectV2").inputs([is_root, sum, zeros]).output());
    Ok(())
}

cases! {
    alone: "Broadcast([1.0 2.0]) = [1.0 2.0]",
    a_bool: "Broadcast(true) = true",
    infers: "Broadcast(f32[?,3]; root_rank=5) : f32[?,3]",
    no_such_rank: "Broadcast([1.0]; root_rank=1) ! there is no rank 1 to broadcast from: the job has 1 ranks",
    negative: "Broadcast([1.0]; root_rank=-1) ! root_rank",
}
