//! `ReduceScatter`: some rows of a reduction over all ranks.

use super::calls::{any_rows, calling, check_reduction, differentiable, reduction};
use millstream_graph::op::spec::{Number, Spec, Words};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_state::collective::{Call, Reduction, What};
use millstream_tensor::{DType, Result, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("ReduceScatter")
        .doc(
            "Reduces the values that the processes of a job have for `input` as `AllReduce` does, and returns \
             in each process some rows of the result, those of rank 0 first. `rows` is a vector: empty for \
             nearly equal numbers of rows, the first ranks having one more where they do not divide, or of \
             one element, the number of rows that this rank takes. The op waits until the node of this name \
             runs in all processes.",
        )
        .input("input", "T")
        .input("rows", DType::I64)
        .on_host()
        .output("output", "T")
        .attr("T", Number)
        .attr("reduction", Words(Reduction::NAMES).or("sum"))
        .infer(infer)
        .kernel(calling!(make))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    check_reduction(cx)?;
    cx.vector(1)?;
    let shape = any_rows(cx)?;
    cx.set(0, shape);
    Ok(())
}

fn make(cx: &mut KernelCx) -> Result<Call> {
    let what = What::ReduceScatter(reduction(cx.attrs())?);
    let rows = cx.ints(1)?;
    ensure!(
        cx.input(1).rank() == 1 && rows.len() <= 1,
        "`rows` must be a vector of at most one element, not {}",
        cx.input(1).shape()
    );
    let rows = rows.iter().map(|&n| usize::try_from(n).map_err(|_| invalid!("`rows` is {n}")));
    let splits = rows.collect::<Result<Vec<usize>>>()?;
    Ok(Call { what, value: cx.take(0), splits })
}

// Each row of the sum is on one rank, and depends on that row of every input.
fn grad(cx: &mut GradCx) -> Result<()> {
    differentiable(cx)?;
    let (dy, shape) = (cx.grad(0), cx.input_shape(0));
    let all = cx.op("AllGather").input(dy).output().set_shape(shape);
    let all = match reduction(cx.attrs())? {
        Reduction::Mean => {
            let size =
                cx.op("Cast").input(cx.op("CollectiveSize").output()).attr("DstT", cx.dtype(0)).output();
            cx.call("RealDiv", [all, size])
        }
        _ => all,
    };
    cx.give(0, all);
    Ok(())
}

cases! {
    alone: "ReduceScatter([1.0 2.0 3.0], i64[0] []) = [1.0 2.0 3.0]",
    alone_the_mean: "ReduceScatter([[1.0 2.0]], i64[1] [1]; reduction=\"mean\") = [[1.0 2.0]]",
    infers: "ReduceScatter(f32[4,3], i64[?]) : f32[?,3]",
    all_rows: "ReduceScatter([1.0 2.0 3.0], i64[1] [2]) ! this rank takes 2 rows, but there are 3",
    negative: "ReduceScatter([1.0], i64 [-1]) ! `rows` is -1",
    one_number: "ReduceScatter([1.0], i64 [1 1]) ! at most one element",
    needs_rows: "ReduceScatter(1.0, i64[0] []) ! rank 1 or more",
}
