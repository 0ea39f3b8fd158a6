//! `FakeQuantWithMinMaxVarsPerChannel`: simulates a quantization with a range for each channel.

use super::fake_quant_with_min_max_vars::grad;
use super::quantized::{attrs, channels, grids, infer_channels, limits, map};
use millstream_graph::op::{Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    attrs(OpDef::new("FakeQuantWithMinMaxVarsPerChannel"))
        .doc(
            "As `FakeQuantWithMinMaxVars`, but `min` and `max` are vectors with a limit for each channel: for \
             each index of the last axis of `inputs`.",
        )
        .input("inputs", F32)
        .input("min", F32)
        .input("max", F32)
        .output("outputs", F32)
        .infer(|cx| {
            infer_channels(cx, 1)?;
            cx.same_as_input()
        })
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(|cx| grad(cx, "FakeQuantWithMinMaxVarsPerChannelGradient")))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let n = channels(cx, 0)?;
    let grids = grids(cx.attrs(), limits(cx, 1, Some(n))?)?;
    let out = map(cx.input(0), |i, x| grids[i % n].map_or(0.0, |grid| grid.nearest(x)))?;
    cx.set(0, out);
    Ok(())
}

cases! {
    each_its_range: "FakeQuantWithMinMaxVarsPerChannel([[-9.0 0.6] [9.0 9.0]], [-1.0 0.0], [2.0 3.0]; num_bits=2) = [[-1.0 1.0] [2.0 3.0]]",
    no_range: "FakeQuantWithMinMaxVarsPerChannel([9.0 9.0], [0.0 0.0], [0.0 3.0]; num_bits=2) = [0.0 3.0]",
    shape: "FakeQuantWithMinMaxVarsPerChannel(f32[?,3], f32[3], f32[?]) : f32[?,3]",
    of_nothing: "FakeQuantWithMinMaxVarsPerChannel(f32[2,0] [], f32[0] [], f32[0] []) = f32[2,0] []",
    has_channels: "FakeQuantWithMinMaxVarsPerChannel(1.0, [1.0], [2.0]) ! must have an axis of channels",
    a_limit_for_each: "FakeQuantWithMinMaxVarsPerChannel([1.0 2.0], [0.0], [2.0]) ! `min` has shape [1]",
}
