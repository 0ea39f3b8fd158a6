//! `ResourceCountUpTo`, `CountUpTo`: increments a variable up to a limit.

use super::target::{VariableArgs, held, missing};
use crate::number::no_kernel;
use millstream_graph::op::spec::{IndexType, Int};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_state::Variable;
use millstream_tensor::{Code, Element, Error, PartialShape, Result, Tensor, invalid, with_element};

pub(crate) fn def() -> [OpDef; 2] {
    [("ResourceCountUpTo", "resource", false), ("CountUpTo", "ref", true)].map(|(name, arg, by_ref)| {
        OpDef::new(name)
            .doc(
                "Increments the scalar variable and returns its old value. Fails with `OUT_OF_RANGE` if \
                 that is already `limit`.",
            )
            .variable(by_ref, arg, "T")
            .output("output", "T")
            .attr("limit", Int)
            .attr("T", IndexType)
            .infer(infer)
            .kernel(Kernel::writes(run))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = held(cx, 0, cx.attrs().dtype("T")?)?;
    shape.merge(&PartialShape::scalar()).ok_or_else(|| {
        invalid!("the variable has shape {shape}; it must be a scalar").led_by(shape.not_of_rank(0))
    })?;
    cx.set(0, PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let limit = cx.attrs().int("limit")?;
    let count = with_element!(cx.node.output_types[0].dtype, T in [I32 I64] => step::<T>(cx, limit), else => Err(no_kernel(cx.node.op.name, cx.node.output_types[0].dtype)))?;
    cx.set(0, count);
    Ok(())
}

fn step<T: Element + num_traits::PrimInt + Into<i64>>(cx: &KernelCx, limit: i64) -> Result<Tensor> {
    let variable = cx.resource::<Variable>(0)?;
    let step = variable.update(|value| {
        let before = value.to_scalar::<T>()?;
        match before.checked_add(&T::one()).filter(|_| before.into() < limit) {
            Some(after) => value.replace(Tensor::scalar(after)),
            None => Err(Error::new(
                Code::OutOfRange,
                format!("`{}` has reached its limit {limit}", variable.name()),
            )
            .led_by(format!("Reached limit of {limit}"))),
        }
    });
    step.map_err(|e| missing(cx, 0, e))
}

cases! {
    counts: "ResourceCountUpTo(@4; limit=5, T=i32) = 4",
    gives_the_old_value: "CountUpTo(&i64 4; limit=5) = i64 4",
    ends: "CountUpTo(&5; limit=5) ! `variable_0` has reached its limit 5",
    is_a_scalar: "CountUpTo(&i32[..]; limit=5) : i32[]",
    wants_a_scalar: "CountUpTo(&i32[2]; limit=5) ! the variable has shape [2]; it must be a scalar",
    needs_a_value: "CountUpTo(&i32[]; limit=5) ! is used before it has a value",
}
