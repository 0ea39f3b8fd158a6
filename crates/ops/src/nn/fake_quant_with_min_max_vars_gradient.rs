//! `FakeQuantWithMinMaxVarsGradient`: the gradient of `FakeQuantWithMinMaxVars`.

use super::quantized::{Grid, attrs, limits, map};
use millstream_graph::op::{Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::pace::paced;
use millstream_tensor::{PartialShape, Result, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    attrs(OpDef::new("FakeQuantWithMinMaxVarsGradient"))
        .doc(
            "Returns `gradients` where `inputs` is in the range, and zeros elsewhere; the sum of the gradients of \
             elements below the range, which is the gradient by `min`; and that of elements above it.",
        )
        .input("gradients", F32)
        .input("inputs", F32)
        .input("min", F32)
        .input("max", F32)
        .output("backprops_wrt_input", F32)
        .output("backprop_wrt_min", F32)
        .output("backprop_wrt_max", F32)
        .infer(|cx| {
            let shape = cx.merge(0, 1)?;
            cx.scalar(2)?;
            cx.scalar(3)?;
            cx.set(0, shape);
            cx.set(1, PartialShape::unknown_of_rank(0));
            cx.set(2, PartialShape::unknown_of_rank(0));
            Ok(())
        })
        .kernel(Kernel::pure(run))
        .gradient(Gradient::none("of a simulated quantization there is no second one, as in TensorFlow"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (min, max) = limits(cx, 2, None)?;
    let (min, max) = (min.to_scalar::<f32>()?, max.to_scalar::<f32>()?);
    let grid = Grid::of(cx.attrs(), min, max)?;
    let (dy, x) = (cx.input(0), cx.input(1));
    ensure!(
        dy.shape() == x.shape(),
        "gradient and input must be the same size";
        "`gradients` has shape {} and `inputs` has shape {}", dy.shape(), x.shape()
    );
    let (dys, xs) = (dy.as_slice::<f32>()?, x.as_slice::<f32>()?);
    let none = min == 0.0 && max == 0.0;
    let to_input = map(dy, |i, dy| if none { dy } else { dy * grid.holds(xs[i]) })?;
    let [mut below, mut above] = [0.0f32; 2];
    if !none {
        paced(xs.len(), |range| {
            for i in range {
                below += dys[i] * grid.below(xs[i]);
                above += dys[i] * grid.above(xs[i]);
            }
        })?;
    }
    cx.set(0, to_input);
    cx.set(1, Tensor::scalar(below));
    cx.set(2, Tensor::scalar(above));
    Ok(())
}

cases! {
    three_parts: "FakeQuantWithMinMaxVarsGradient([1.0 2.0 3.0 4.0], [-9.0 0.0 9.0 8.0], -1.0, 1.0) ~ [0.0 2.0 0.0 0.0], 1.0, 7.0",
    no_range: "FakeQuantWithMinMaxVarsGradient([1.0 2.0], [-9.0 9.0], 0.0, 0.0) = [1.0 2.0], 0.0, 0.0",
    shape: "FakeQuantWithMinMaxVarsGradient(f32[?,3], f32[2,?], f32[], f32[]) : f32[2,3], f32[], f32[]",
    equal_shapes: "FakeQuantWithMinMaxVarsGradient([1.0], [1.0 2.0], -1.0, 1.0) ! must be equal",
}
