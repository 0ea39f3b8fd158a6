//! `FakeQuantWithMinMaxArgsGradient`: the gradient of `FakeQuantWithMinMaxArgs`.

use super::fake_quant_with_min_max_args::{grid, masked, range};
use super::quantized::map;
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::F32;
use millstream_tensor::{Result, ensure};

pub(crate) fn def() -> OpDef {
    range(OpDef::new("FakeQuantWithMinMaxArgsGradient"))
        .doc("Returns `gradients` where `inputs` is in the range, and zeros elsewhere.")
        .input("gradients", F32)
        .input("inputs", F32)
        .output("backprops", F32)
        .infer(|cx| {
            let shape = cx.merge(0, 1)?;
            cx.set(0, shape);
            Ok(())
        })
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let grid = grid(cx.attrs())?;
    let (dy, x) = (cx.input(0), cx.input(1));
    ensure!(
        dy.shape() == x.shape(),
        "gradient and input must be the same size";
        "`gradients` has shape {} and `inputs` has shape {}", dy.shape(), x.shape()
    );
    let xs = x.as_slice::<f32>()?;
    let out = map(dy, |i, dy| dy * grid.holds(xs[i]))?;
    cx.set(0, out);
    Ok(())
}

// Linear in `gradients`, and constant in `inputs`.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dz, x) = (cx.grad(0), cx.input(1));
    cx.give(0, masked(cx, [dz, x]));
    Ok(())
}

cases! {
    in_the_range: "FakeQuantWithMinMaxArgsGradient([1.0 2.0 3.0], [-7.0 0.0 7.0]) = [0.0 2.0 0.0]",
    shape: "FakeQuantWithMinMaxArgsGradient(f32[?,3], f32[2,?]) : f32[2,3]",
    equal_shapes: "FakeQuantWithMinMaxArgsGradient([1.0], [1.0 2.0]) ! must be equal",
}
