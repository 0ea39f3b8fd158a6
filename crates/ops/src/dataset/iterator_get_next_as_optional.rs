//! `IteratorGetNextAsOptional`: the next element of an iterator, or nothing.

use super::datasets::typed;
use super::iterator_get_next::A_FILE_OR_A_FUNCTION;
use super::iterators::next_of;
use crate::shared::optional::Optional;
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, Tensor};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("IteratorGetNextAsOptional")
        .doc("Returns the next element of an iterator as an optional, which has no value at the end.")
        .input("iterator", DType::Resource)
        .output("optional", DType::Variant);
    typed(def)
        .infer(|cx| {
            cx.scalar(0)?;
            cx.scalars()
        })
        .kernel(Kernel::stateful(run).cost(Cost::Estimate(|_, _| A_FILE_OR_A_FUNCTION)))
        .gradient(Gradient::none("datasets carry no gradients, as in TensorFlow"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let element = next_of(cx)?.map(|element| element.into_vec());
    cx.set(0, Tensor::variant(Optional::variant(element)?));
    Ok(())
}

cases! {
    is_a_variant: "IteratorGetNextAsOptional(resource[]; output_types={f32}, output_shapes={shape[?,2]}) : variant[]",
    of_an_iterator: "IteratorGetNextAsOptional(@i32 1; output_types={f32}, output_shapes={shape[?,2]}) ! refers to a variable",
}
