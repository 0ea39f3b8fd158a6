//! `FakeQuantWithMinMaxVarsPerChannelGradient`: the gradient of `FakeQuantWithMinMaxVarsPerChannel`.

use super::quantized::{attrs, channels, grids, infer_channels, limits, map};
use millstream_graph::op::{Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::pace::paced;
use millstream_tensor::{Result, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    attrs(OpDef::new("FakeQuantWithMinMaxVarsPerChannelGradient"))
        .doc("As `FakeQuantWithMinMaxVarsGradient`, but with limits and their gradients for each channel.")
        .input("gradients", F32)
        .input("inputs", F32)
        .input("min", F32)
        .input("max", F32)
        .output("backprops_wrt_input", F32)
        .output("backprop_wrt_min", F32)
        .output("backprop_wrt_max", F32)
        .infer(|cx| {
            let (shape, limits) = (cx.merge(0, 1)?, infer_channels(cx, 2)?);
            cx.set(0, shape);
            cx.set(1, limits.clone());
            cx.set(2, limits);
            Ok(())
        })
        .kernel(Kernel::pure(run))
        .gradient(Gradient::none("of a simulated quantization there is no second one, as in TensorFlow"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let n = channels(cx, 1)?;
    let grids = grids(cx.attrs(), limits(cx, 2, Some(n))?)?;
    let (dy, x) = (cx.input(0), cx.input(1));
    ensure!(
        dy.shape() == x.shape(),
        "gradient and input must be the same size";
        "`gradients` has shape {} and `inputs` has shape {}", dy.shape(), x.shape()
    );
    let (dys, xs) = (dy.as_slice::<f32>()?, x.as_slice::<f32>()?);
    let to_input = map(dy, |i, dy| grids[i % n].map_or(dy, |grid| dy * grid.holds(xs[i])))?;
    let [mut below, mut above] = [Tensor::zeros(F32, [n])?, Tensor::zeros(F32, [n])?];
    let sums = below.make_mut::<f32>().zip(above.make_mut::<f32>());
    if let Some((below, above)) = sums {
        paced(xs.len(), |range| {
            for i in range {
                let Some(grid) = grids[i % n] else { continue };
                below[i % n] += dys[i] * grid.below(xs[i]);
                above[i % n] += dys[i] * grid.above(xs[i]);
            }
        })?;
    }
    cx.set(0, to_input);
    cx.set(1, below);
    cx.set(2, above);
    Ok(())
}

cases! {
    three_parts: "FakeQuantWithMinMaxVarsPerChannelGradient([[1.0 2.0] [3.0 4.0]], [[-9.0 0.0] [9.0 9.0]], [-1.0 -1.0], [1.0 1.0]) ~ [[0.0 2.0] [0.0 0.0]], [1.0 0.0], [3.0 4.0]",
    no_range: "FakeQuantWithMinMaxVarsPerChannelGradient([1.0 2.0], [-9.0 9.0], [0.0 -1.0], [0.0 1.0]) = [1.0 0.0], [0.0 0.0], [0.0 2.0]",
    shape: "FakeQuantWithMinMaxVarsPerChannelGradient(f32[?,3], f32[2,?], f32[?], f32[3]) : f32[2,3], f32[3], f32[3]",
    of_nothing: "FakeQuantWithMinMaxVarsPerChannelGradient(f32[0] [], f32[0] [], f32[0] [], f32[0] []) = f32[0] [], f32[0] [], f32[0] []",
    equal_shapes: "FakeQuantWithMinMaxVarsPerChannelGradient([1.0], [1.0 2.0], [0.0 0.0], [1.0 1.0]) ! must be equal",
}
