//! `Size`: the number of elements of a tensor.

use crate::shared::axes::counts;
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, Known, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Shape};

pub(crate) fn def() -> OpDef {
    OpDef::new("Size")
        .doc("Returns the number of elements of `input`.")
        .input("input", "T")
        .output("output", "out_type")
        .attr("T", AnyType)
        .attr("out_type", IndexType.or(DType::I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    match cx.input(0).elements() {
        Some(n) => {
            cx.set_known(0, Known::Partial { entries: [Some(n as i64)].into_iter().collect(), scalar: true })
        }
        None => cx.set(0, PartialShape::scalar()),
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let size = counts(cx.attrs().dtype("out_type")?, Shape::scalar(), [cx.input(0).elements()])?;
    cx.set(0, size);
    Ok(())
}

cases! {
    of_a_matrix: "Size([[1 2 3] [4 5 6]]) = 6",
    of_a_scalar: "Size('a'; out_type=i64) = i64 1",
    of_nothing: "Size(f32[0,3] []) = 0",
    is_scalar: "Size(f32[..]) : i32[]",
    takes_one: "Size(1, 2) ! 1 input",
}
