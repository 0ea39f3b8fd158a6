//! `AddN`: the sum of many tensors.

use super::sum_of_many::{common_shape, run};
use millstream_graph::op::spec::AtLeast;
use millstream_graph::op::{GradCx, Gradient, Kernel, OpDef};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("AddN")
        .doc("The sum of all inputs, which have one shape, added from the first to the last.")
        .inputs("inputs", "N", "T")
        .output("sum", "T")
        .attr("N", AtLeast(1))
        .attr("T", dtypes!(numbers))
        .infer(|cx| {
            let shape = common_shape(cx)?;
            cx.set(0, shape);
            Ok(())
        })
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dsum = cx.grad(0);
    (0..cx.n_inputs()).for_each(|i| cx.give(i, dsum));
    Ok(())
}

cases! {
    adds: "AddN([1 2], [10 20], [100 200]) = [111 222]",
    one_is_itself: "AddN(2.5) = 2.5",
    merges_shapes: "AddN(f32[?,3], f32[2,?], f32[..]) : f32[2,3]",
    wants_equal_shapes: "AddN([1 2], [1]) ! must be equal",
}
