//! `Add`: the elementwise sum, also of strings.

use crate::shared::elementwise::broadcast;
use millstream_graph::op::spec::OneOf;
use millstream_graph::op::{GradCx, Gradient, Kernel, KernelCx, Meaning, OpDef};
use millstream_tensor::DType::*;
use millstream_tensor::{Error, Result, Str, Tensor, with_element};

formula!(x, y: Num => x.add(y));

pub(crate) fn def() -> OpDef {
    let of_numbers = kernel!(binary, numbers, Formula);
    OpDef::new("Add")
        .doc(
            "Computes `x + y` elementwise, with broadcasting. Integers wrap around; strings are \
             concatenated.",
        )
        .input("x", "T")
        .input("y", "T")
        .output("z", "T")
        .attr("T", OneOf(&[F16, BF16, F32, F64, U8, I8, I16, I32, I64, C64, C128, Str, U16, U32, U64]))
        .infer(|cx| cx.broadcast())
        .kernel(Kernel { body: Kernel::pure(run).body, ..of_numbers })
        .means(Meaning::Sum)
        .gradient(Gradient::of(grad))
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dz = cx.grad(0);
    for i in 0..2 {
        if cx.wants(i) {
            cx.give_summed(i, dz);
        }
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    with_element!(cx.input(0).dtype(), T in numbers => crate::shared::elementwise::run::binary::<T, Formula>(cx), else => join(cx))
}

fn join(cx: &mut KernelCx) -> Result<()> {
    let shape = broadcast(cx, cx.input(0), cx.input(1))?;
    let (x, y) = (cx.input(0).broadcast_to(shape.clone())?, cx.input(1).broadcast_to(shape.clone())?);
    let (Some(x), Some(y)) = (x.as_strs(), y.as_strs()) else {
        return Err(Error::internal("only numbers and strings are added"));
    };
    let joined = x.iter().zip(y).map(|(x, y)| Str::join(&[x, y], b"")).collect::<Result<_>>()?;
    cx.set(0, Tensor::strings(shape, joined)?);
    Ok(())
}

cases! {
    adds: "Add([1 2], 3) = [4 5]",
    joins: "Add([\"a\" \"b\"], \"c\") = [\"ac\" \"bc\"]",
    broadcasts_shapes: "Add(f32[?,3], f32[2,1]) : f32[2,3]",
    wants_shapes_that_fit: "Add([1 2], [1 2 3]) ! do not broadcast",
}
