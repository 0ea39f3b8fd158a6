//! `VariableShape`: the shape of a resource variable's value.

use super::target::missing;
use millstream_graph::op::spec::{IndexType, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::{DType, PartialShape, Result, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("VariableShape")
        .doc("Returns the shape of the variable's value.")
        .input("input", DType::Resource)
        .output("output", "out_type")
        .attr("out_type", IndexType.or(DType::I32))
        .infer(infer)
        .kernel(Kernel::reads(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    let shape = cx.handle(0).map_or_else(PartialShape::unknown, |h| h.shape.clone());
    cx.set_known_shape(0, &shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let value = cx.resource::<Variable>(0)?.read().map_err(|e| missing(cx, 0, e))?;
    let dims = value.shape().to_signed();
    let shape = match cx.node.output_types[0].dtype {
        DType::I64 => Tensor::vector(&dims)?,
        _ => {
            let narrow = |&d| {
                i32::try_from(d)
                    .map_err(|_| invalid!("dimension {d} does not fit in i32: use `out_type` i64"))
            };
            Tensor::vector(&dims.iter().map(narrow).collect::<Result<Vec<i32>>>()?)?
        }
    };
    cx.set(0, shape);
    Ok(())
}

cases! {
    gives_the_shape: "VariableShape(@f32[2,1] [[1] [2]]) = [2 1]",
    as_i64: "VariableShape(@f32 1; out_type=i64) = i64[0] []",
    knows_the_rank: "VariableShape(@f32[?,3]) : i32[2]",
    unknown_handle: "VariableShape(resource[]) : i32[?]",
    needs_a_value: "VariableShape(@f32[2]) ! is used before it has a value",
}
