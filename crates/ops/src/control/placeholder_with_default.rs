//! `PlaceholderWithDefault`: a value that can be fed.

use millstream_graph::op::spec::{AnyShape, AnyType};
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{Result, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("PlaceholderWithDefault")
        .doc("Returns `input`, unless another value is fed, whose shape must be compatible with `shape`.")
        .input("input", "dtype")
        .output("output", "dtype")
        .attr("dtype", AnyType)
        .attr("shape", AnyShape)
        .infer(infer)
        .kernel(Kernel::stateful(run))
        .gradient(Gradient::pass())
}

// The value of the input does not determine the output, which can be fed. For the same reason the kernel is
// not declared as pure: constant folding would fix the default.
fn infer(cx: &mut InferCx) -> Result<()> {
    let shape = cx.attrs().shape("shape")?;
    cx.input(0).merge(shape).ok_or_else(|| {
        invalid!("`input` has shape {} but the attribute `shape` is {shape}", cx.input(0))
            .led_by(cx.input(0).difference(shape))
    })?;
    cx.set(0, shape.clone());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let value = cx.take(0);
    cx.set(0, value);
    Ok(())
}

cases! {
    passes_its_default_on: "PlaceholderWithDefault([1 2]; shape=shape[?]) = [1 2]",
    has_the_declared_shape: "PlaceholderWithDefault(f32[2,3]; shape=shape[?,3]) : f32[?,3]",
    default_must_fit: "PlaceholderWithDefault(f32[2,3]; shape=shape[?,4]) ! `input` has shape [2,3] but the attribute `shape` is [?,4]",
}
