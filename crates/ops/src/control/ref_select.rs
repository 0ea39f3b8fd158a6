//! `RefSelect`: one of several references.

use millstream_graph::op::spec::{AnyType, AtLeast};
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("RefSelect")
        .doc("Returns the reference `inputs[index]`.")
        .input("index", DType::I32)
        .ref_inputs("inputs", "N", "T")
        .ref_output("output", "T")
        .attr("T", AnyType)
        .attr("N", AtLeast(1))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::none("it passes references on"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    let mut shapes = cx.inputs().iter().skip(1);
    let first = shapes.next().cloned().unwrap_or_else(PartialShape::unknown);
    cx.set(0, shapes.fold(first, |a, b| a.join(b)));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let n = cx.n_inputs() - 1;
    let index = cx.int(0)?;
    let i = usize::try_from(index)
        .ok()
        .filter(|i| *i < n)
        .ok_or_else(|| invalid!("Index must be in the range [0, {n}) but got {index}"; "`index` is {index} but there are {n} inputs: it must be in 0..{n}"))?;
    let chosen = cx.take(i + 1);
    cx.set(0, chosen);
    Ok(())
}

cases! {
    selects: "RefSelect(1, &i32[2] [1 2], &i32[2] [3 4]) = [3 4]",
    keeps_what_agrees: "RefSelect(i32[], &f32[2,3], &f32[2,4]) : f32[2,?]",
    index_in_range: "RefSelect(2, &i32[2] [1 2], &i32[2] [3 4]) ! `index` is 2 but there are 2 inputs: it must be in 0..2",
}
