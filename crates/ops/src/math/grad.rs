//! What the ops that compute `dx` from `y = f(x)` and `dy` share.

use millstream_graph::Output;
use millstream_graph::op::{GradCx, Kernel, OpDef};
use millstream_tensor::DType;

/// An op `z = g(y, dy)` on tensors of one shape.
pub(crate) fn gradient_op(name: &'static str, kernel: Kernel) -> OpDef {
    OpDef::new(name)
        .input("y", "T")
        .input("dy", "T")
        .output("z", "T")
        .attr("T", dtypes!(fields))
        .infer(|cx| {
            let shape = cx.merge(0, 1)?;
            cx.set(0, shape);
            Ok(())
        })
        .kernel(kernel)
}

/// 1 where `x` is not 0, else 0.
pub(crate) fn not_zero<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    let dtype = cx.dtype(0);
    let differs = cx.call("NotEqual", [x, cx.scalar(dtype, 0.0)]);
    cx.op("Cast").input(differs).attr("DstT", dtype).output()
}

/// An op of two floats that has no kernel for half-width ones: of those it is computed in f32.
pub(crate) fn at_least_single<'g>(
    cx: &GradCx<'g, '_>,
    op: &'static str,
    inputs: [Output<'g>; 2],
) -> Output<'g> {
    let cast = |x, to| cx.op("Cast").input(x).attr("DstT", to).output();
    match inputs[0].dtype() {
        Ok(half @ (DType::F16 | DType::BF16)) => cast(cx.call(op, inputs.map(|x| cast(x, DType::F32))), half),
        _ => cx.call(op, inputs),
    }
}
