//! `AllReduce`: the sum, mean, minimum or maximum over all ranks.

use super::calls::{call, calling, check_reduction, differentiable, reduction};
use millstream_graph::op::spec::{Number, Spec, Words};
use millstream_graph::op::{GradCx, Gradient, InferCx, KernelCx, OpDef};
use millstream_state::collective::{Call, Reduction, What};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("AllReduce")
        .doc(
            "Reduces the values that the processes of a job have for `input`, element by element. Every \
             process gets the same bits: elements are folded in the order of the ranks. `reduction` is `sum`, \
             `mean`, `min` or `max`. The shapes of all ranks must be equal. The op waits until the node of \
             this name runs in all processes. With one process the output is the input.",
        )
        .input("input", "T")
        .output("output", "T")
        .attr("T", Number)
        .attr("reduction", Words(Reduction::NAMES).or("sum"))
        .infer(infer)
        .kernel(calling!(make))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    check_reduction(cx)?;
    cx.same_as_input()
}

fn make(cx: &mut KernelCx) -> Result<Call> {
    let what = What::AllReduce(reduction(cx.attrs())?);
    call(cx, what)
}

// The loss of a job is the sum of the losses of all ranks. Each of them depends on every rank's input, so the
// gradient of an input is the sum, or mean, of the gradients of all outputs.
fn grad(cx: &mut GradCx) -> Result<()> {
    differentiable(cx)?;
    let how = reduction(cx.attrs())?.name();
    let dy = cx.grad(0);
    cx.give(0, cx.op("AllReduce").input(dy).attr("reduction", how).output());
    Ok(())
}

cases! {
    alone: "AllReduce([1.0 2.0]) = [1.0 2.0]",
    alone_the_mean: "AllReduce(f64 3.0; reduction=\"mean\") = f64 3.0",
    largest: "AllReduce([1 2]; reduction=\"max\") = [1 2]",
    infers: "AllReduce(f32[?,3]) : f32[?,3]",
    no_mean_of_integers: "AllReduce([1 2]; reduction=\"mean\") ! there is no mean of i32",
    no_order: "AllReduce(c64[2]; reduction=\"max\") ! complex numbers have no order",
    unknown: "AllReduce([1.0]; reduction=\"product\") ! product",
    of_numbers: "AllReduce([\"a\"]) ! str",
}
