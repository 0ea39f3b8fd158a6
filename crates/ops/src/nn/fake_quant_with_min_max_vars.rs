//! `FakeQuantWithMinMaxVars`: simulates a quantization whose range is an input.

use super::quantized::{Grid, attrs, limits, map};
use millstream_graph::Output;
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    attrs(OpDef::new("FakeQuantWithMinMaxVars"))
        .doc(
            "As `FakeQuantWithMinMaxArgs`, but `min` and `max` are inputs, through which gradients flow. If both \
             are 0, all results are 0.",
        )
        .input("inputs", F32)
        .input("min", F32)
        .input("max", F32)
        .output("outputs", F32)
        .infer(|cx| {
            cx.scalar(1)?;
            cx.scalar(2)?;
            cx.same_as_input()
        })
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(|cx| grad(cx, "FakeQuantWithMinMaxVarsGradient")))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (min, max) = limits(cx, 1, None)?;
    let (min, max) = (min.to_scalar::<f32>()?, max.to_scalar::<f32>()?);
    let grid = Grid::of(cx.attrs(), min, max)?;
    let none = min == 0.0 && max == 0.0;
    let out = map(cx.input(0), |_, x| if none { 0.0 } else { grid.nearest(x) })?;
    cx.set(0, out);
    Ok(())
}

pub(super) fn grad(cx: &mut GradCx, back: &'static str) -> Result<()> {
    let inputs = [cx.grad(0), cx.input(0), cx.input(1), cx.input(2)];
    let parts: Vec<Output<'_>> = cx.op(back).inputs(inputs).attrs(cx.attrs().clone()).finish().outputs();
    for (i, part) in parts.into_iter().enumerate() {
        cx.give(i, part);
    }
    Ok(())
}

cases! {
    four_numbers: "FakeQuantWithMinMaxVars([-9.0 -0.4 0.6 9.0], -1.0, 2.0; num_bits=2) = [-1.0 0.0 1.0 2.0]",
    no_range: "FakeQuantWithMinMaxVars([-9.0 9.0], 0.0, 0.0) = [0.0 0.0]",
    shape: "FakeQuantWithMinMaxVars(f32[?,3], f32[], f32[]) : f32[?,3]",
    one_range: "FakeQuantWithMinMaxVars([1.0], [1.0], 2.0) ! `min` must be a scalar",
}
