//! `FakeQuantWithMinMaxArgs`: simulates a quantization whose range is given by attributes.

use super::quantized::{Grid, attrs, map};
use millstream_graph::Attrs;
use millstream_graph::op::spec::{Float, Spec};
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> OpDef {
    range(OpDef::new("FakeQuantWithMinMaxArgs"))
        .doc(
            "Replaces each element by the nearest of the numbers that integers of `num_bits` bits stand for \
             when they cover `min ..= max`. The range is moved a little, so that zero is one of the numbers. \
             If `narrow_range` is true, the least integer is not used.",
        )
        .input("inputs", F32)
        .output("outputs", F32)
        .infer(|cx| cx.same_as_input())
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

/// Declares the attributes.
pub(super) fn range(def: OpDef) -> OpDef {
    attrs(def.attr("min", Float.or(-6.0f32)).attr("max", Float.or(6.0f32)))
}

/// The grid that the attributes tell.
pub(super) fn grid(attrs: &Attrs) -> Result<Grid> {
    let (min, max) = (attrs.float("min")?, attrs.float("max")?);
    ensure!(min < max, "min has to be smaller than max, was: {min} >= {max}");
    Grid::of(attrs, min, max)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let grid = grid(cx.attrs())?;
    let out = map(cx.input(0), |_, x| grid.nearest(x))?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, x) = (cx.grad(0), cx.input(0));
    cx.give(0, masked(cx, [dy, x]));
    Ok(())
}

/// The node of the gradient.
pub(super) fn masked<'g>(
    cx: &GradCx<'g, '_>,
    inputs: [millstream_graph::Output<'g>; 2],
) -> millstream_graph::Output<'g> {
    cx.op("FakeQuantWithMinMaxArgsGradient").inputs(inputs).attrs(cx.attrs().clone()).output()
}

cases! {
    four_numbers: "FakeQuantWithMinMaxArgs([-9.0 -0.4 0.6 1.4 9.0]; min=-1.0, max=2.0, num_bits=2) = [-1.0 0.0 1.0 1.0 2.0]",
    not_finite: "FakeQuantWithMinMaxArgs([nan inf -inf]; min=-1.0, max=2.0, num_bits=2) = [nan 2.0 -1.0]",
    narrow: "FakeQuantWithMinMaxArgs([-9.0 0.4 0.6 9.0]; min=-1.0, max=1.0, num_bits=2, narrow_range=true) = [-1.0 0.0 1.0 1.0]",
    zero_is_kept: "FakeQuantWithMinMaxArgs([0.0 0.2]; min=0.5, max=3.5, num_bits=2) = [0.0 0.0]",
    shape: "FakeQuantWithMinMaxArgs(f32[?,3]) : f32[?,3]",
    a_range: "FakeQuantWithMinMaxArgs([1.0]; min=1.0, max=1.0) ! min has to be smaller than max",
    some_bits: "FakeQuantWithMinMaxArgs([1.0]; num_bits=17) ! num_bits must be between 2 and 16",
}
