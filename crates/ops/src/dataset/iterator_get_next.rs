//! `IteratorGetNext`, `IteratorGetNextSync`: the next element of an iterator.

use super::datasets::typed;
use super::iterators::{end_of_sequence, infer, next_of};
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> [OpDef; 2] {
    ["IteratorGetNext", "IteratorGetNextSync"].map(|name| {
        let def = OpDef::new(name)
            .doc("Returns the next element of an iterator. `OUT_OF_RANGE` is the end.")
            .input("iterator", DType::Resource)
            .output_list("components", "output_types");
        typed(def)
            .infer(infer)
            .kernel(Kernel::stateful(run).cost(Cost::Estimate(|_, _| A_FILE_OR_A_FUNCTION)))
            .gradient(Gradient::none("datasets carry no gradients, as in TensorFlow"))
    })
}

/// The estimated cost in nanoseconds. An element may take reading files and calling functions; with enough
/// threads, other nodes run in the meantime.
pub(super) const A_FILE_OR_A_FUNCTION: f64 = 1e6;

fn run(cx: &mut KernelCx) -> Result<()> {
    let element = next_of(cx)?.ok_or_else(end_of_sequence)?;
    element.into_iter().enumerate().for_each(|(i, value)| cx.set(i, value));
    Ok(())
}

cases! {
    knows_types: "IteratorGetNext(resource[]; output_types={f32, i32}, output_shapes={shape[?,2], shape[]}) : f32[?,2], i32[]",
    by_its_other_name: "IteratorGetNextSync(resource[]; output_types={f32}, output_shapes={shape[?,2]}) : f32[?,2]",
    of_an_iterator: "IteratorGetNext(@i32 1; output_types={f32}, output_shapes={shape[?,2]}) ! refers to a variable",
}
