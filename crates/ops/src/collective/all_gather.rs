//! `AllGather`: the rows of all ranks.

use super::calls::{PLAIN, any_rows, call, calling, rows_of_input};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_state::collective::{Call, What};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("AllGather")
        .doc(
            "Concatenates along the first axis the values that the processes of a job have for `input`, in \
             the order of the ranks. The ranks may have different numbers of rows; the other dimensions must \
             be equal. The op waits until the node of this name runs in all processes. With one process the \
             output is the input.",
        )
        .input("input", "T")
        .output("output", "T")
        .attr("T", PLAIN)
        .infer(infer)
        .kernel(calling!(make))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = any_rows(cx)?;
    cx.set(0, shape);
    Ok(())
}

fn make(cx: &mut KernelCx) -> Result<Call> {
    call(cx, What::AllGather)
}

// A row is in the outputs of all ranks, so its gradient is the sum of theirs.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, rows) = (cx.grad(0), rows_of_input(cx));
    let shape = cx.input_shape(0);
    cx.give(0, cx.op("ReduceScatter").input(dy).input(rows).output().set_shape(shape));
    Ok(())
}

cases! {
    alone: "AllGather([[1 2] [3 4]]) = [[1 2] [3 4]]",
    floats: "AllGather([1.5 2.5]) = [1.5 2.5]",
    bools: "AllGather([true false]) = [true false]",
    infers: "AllGather(f32[2,3]) : f32[?,3]",
    unknown_rank: "AllGather(f32[..]) : f32[..]",
    needs_rows: "AllGather(1.0) ! rank 1 or more",
    no_strings: "AllGather([\"a\"]) ! str",
}
