//! `AccumulateNV2`: the sum of several tensors of a declared shape.

use super::sum_of_many::{common_shape, lowering, run};
use millstream_graph::op::spec::{AnyShape, AtLeast, OneOf};
use millstream_graph::op::{GradCx, Gradient, Kernel, OpDef};
use millstream_tensor::{Result, dtypes, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("AccumulateNV2")
        .doc(
            "Computes the sum of all inputs, added from the first to the last. All have the shape in the \
             attribute `shape`.",
        )
        .inputs("inputs", "N", "T")
        .output("sum", "T")
        .attr("N", AtLeast(1))
        .attr("T", OneOf(dtypes!(numbers)))
        .attr("shape", AnyShape)
        .infer(|cx| {
            let (inputs, said) = (common_shape(cx)?, cx.attrs().shape("shape")?);
            let shape = inputs.merge(said).ok_or_else(|| {
                invalid!(
                    "AccumulateNV2: the inputs have shape {inputs} but `shape` is {said}; they must agree"
                )
            })?;
            cx.set(0, shape);
            Ok(())
        })
        .kernel(Kernel::pure(run).lowered(lowering))
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dsum = cx.grad(0);
    (0..cx.n_inputs()).for_each(|i| cx.give(i, dsum));
    Ok(())
}

cases! {
    adds: "AccumulateNV2([1 2], [10 20]; shape=shape[2]) = [11 22]",
    takes_the_shape_said: "AccumulateNV2(f32[?,3], f32[..]; shape=shape[2,3]) : f32[2,3]",
    shapes_must_agree: "AccumulateNV2(f32[4], f32[4]; shape=shape[2]) ! they must agree",
}
