//! `CollectiveAllToAll`: the rows that each rank has for this one.

use super::calls::{PLAIN, any_rows, calling};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_state::collective::{Call, What};
use millstream_tensor::{DType, PartialShape, Result, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("CollectiveAllToAll")
        .doc(
            "Gives rank r the next `splits[r]` rows of `input`, and returns the rows that this process gets \
             from the processes of the job, in the order of the ranks, and how many came from each. With \
             empty `splits` all ranks get nearly equal numbers of rows, the first ones one more where they do \
             not divide. The op waits until the node of this name runs in all processes. TensorFlow has \
             another op `AllToAll`, for TPUs.",
        )
        .input("input", "T")
        .input("splits", DType::I32)
        .on_host()
        .output("output", "T")
        .output("received_splits", DType::I32)
        .attr("T", PLAIN)
        .infer(infer)
        .kernel(calling!(make))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let n_splits = cx.vector(1)?;
    let shape = any_rows(cx)?;
    cx.set(0, shape);
    cx.set(1, PartialShape::new([n_splits.filter(|&n| 0 < n)]));
    Ok(())
}

fn make(cx: &mut KernelCx) -> Result<Call> {
    ensure!(cx.input(1).rank() == 1, "`splits` must be a vector, not {}", cx.input(1).shape());
    let splits = cx.ints(1)?.into_iter().enumerate();
    let splits = splits.map(|(r, n)| usize::try_from(n).map_err(|_| invalid!("`splits[{r}]` is {n}")));
    let splits = splits.collect::<Result<Vec<usize>>>()?;
    Ok(Call { what: What::AllToAll, value: cx.take(0), splits })
}

// Every row went to one rank, and its gradient goes back.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, received, shape) = (cx.grad(0), cx.output(1), cx.input_shape(0));
    cx.give(0, cx.call("CollectiveAllToAll", [dy, received]).set_shape(shape));
    Ok(())
}

cases! {
    alone: "CollectiveAllToAll([1.0 2.0 3.0], i32[0] []) = [1.0 2.0 3.0], [3]",
    alone_with_splits: "CollectiveAllToAll([[1.0] [2.0]], [2]) = [[1.0] [2.0]], [2]",
    infers: "CollectiveAllToAll(f32[4,3], i32[2]) : f32[?,3], i32[2]",
    unknown_splits: "CollectiveAllToAll(f32[4,3], i32[?]) : f32[?,3], i32[?]",
    one_entry_per_rank: "CollectiveAllToAll([1.0 2.0], [1 1]) ! `splits` has 2 entries, but the job has 1 ranks",
    all_rows: "CollectiveAllToAll([1.0 2.0], [1]) ! the sum of `splits` must be 2, the number of rows",
    negative: "CollectiveAllToAll([1.0 2.0], [-1]) ! `splits[0]` is -1",
}
