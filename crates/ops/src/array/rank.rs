//! `Rank`: the number of dimensions of a tensor.

use crate::shared::axes::counts;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{InferCx, Kernel, KernelCx, Known, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Shape};

pub(crate) fn def() -> OpDef {
    OpDef::new("Rank")
        .doc("Returns the number of dimensions of `input`.")
        .input("input", "T")
        .output("output", DType::I32)
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    match cx.input(0).rank() {
        Some(n) => {
            cx.set_known(0, Known::Partial { entries: [Some(n as i64)].into_iter().collect(), scalar: true })
        }
        None => cx.set(0, PartialShape::scalar()),
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let rank = counts(DType::I32, Shape::scalar(), [cx.input(0).rank()])?;
    cx.set(0, rank);
    Ok(())
}

cases! {
    of_a_matrix: "Rank([[1 2 3] [4 5 6]]) = 2",
    of_a_scalar: "Rank(true) = 0",
    is_scalar: "Rank(f32[..]) : i32[]",
    takes_one: "Rank() ! 1 input",
}
