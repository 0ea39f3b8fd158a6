//! `AddV2`: elementwise sum.

use millstream_graph::op::spec::Number;
use millstream_graph::op::{Kernel, KernelCx, OpDef, Operator};
use millstream_tensor::{Result, Tensor};

pub(crate) fn def() -> OpDef {
    OpDef::new("AddV2")
        .doc("The elementwise sum `x + y`, with broadcasting. Integers wrap around.")
        .input("x", "T")
        .input("y", "T")
        .output("z", "T")
        .attr("T", Number)
        .infer(|cx| cx.broadcast())
        .kernel(Kernel::pure(run))
        .operator(Operator::Add)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (a, b) = (cx.input(0).to_scalar::<i32>()?, cx.input(1).to_scalar::<i32>()?);
    cx.set(0, Tensor::scalar(a.wrapping_add(b)));
    Ok(())
}

cases! {
    adds: "AddV2(1, 2) = 3",
    broadcasts_shapes: "AddV2(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_equal_types: "AddV2(1, 2.0) ! `y` is f32 but must be i32",
}
