//! Helpers that the ops computing `dx` from `y = f(x)` and `dy` share.

use millstream_graph::Output;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Kernel, OpDef};
use millstream_tensor::dtypes;

/// Declares an op `z = g(y, dy)` on tensors of one shape.
pub(crate) fn gradient_op(name: &'static str, kernel: Kernel) -> OpDef {
    OpDef::new(name)
        .input("y", "T")
        .input("dy", "T")
        .output("z", "T")
        .attr("T", OneOf(dtypes!(fields)))
        .infer(|cx| {
            let shape = cx.merge(0, 1)?;
            cx.set(0, shape);
            Ok(())
        })
        .kernel(kernel)
}

/// Returns 1 where `x` is not 0, else 0.
pub(crate) fn not_zero<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    let dtype = cx.dtype(0);
    let differs = cx.call("NotEqual", [x, cx.scalar(dtype, 0.0)]);
    cx.op("Cast").input(differs).attr("DstT", dtype).output()
}
