//! `IteratorToStringHandle`: a string that names an iterator.

use super::iterators::Iterator;
use millstream_graph::op::{Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Str, Tensor};

pub(crate) fn def() -> OpDef {
    OpDef::new("IteratorToStringHandle")
        .doc("Returns a string that `IteratorFromStringHandle` turns into the handle again, in the same session.")
        .input("resource_handle", DType::Resource)
        .output("string_handle", DType::Str)
        .infer(|cx| {
            cx.scalar(0)?;
            cx.scalars()
        })
        .kernel(Kernel::stateful(run))
        .gradient(Gradient::none("datasets carry no gradients, as in TensorFlow"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    cx.resource::<Iterator>(0)?;
    let handle = cx.handle(0)?;
    // An iterator of this session alone is among the kernels' state. The text says which it is.
    let shared = cx.env.resources.get::<Iterator>(&handle.container, &handle.name);
    let is_shared =
        shared.is_ok_and(|found| handle.get::<Iterator>().is_some_and(|own| std::ptr::eq(&*found, own)));
    let kind = if is_shared { "shared" } else { "private" };
    let text = [kind, &*handle.container, &*handle.name].join("\n");
    cx.set(0, Tensor::str(Str::new(text)?));
    Ok(())
}

cases! {
    is_a_string: "IteratorToStringHandle(resource[]) : str[]",
    of_an_iterator: "IteratorToStringHandle(@i32 1) ! refers to a variable",
}
