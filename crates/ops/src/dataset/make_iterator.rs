//! `MakeIterator`: begins an iterator's pass over a dataset.

use super::datasets::Data;
use super::iterators::Iterator;
use millstream_graph::op::{Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    OpDef::new("MakeIterator")
        .doc(
            "Begins a pass of `iterator` over `dataset`, whose elements must be of the iterator's types. A \
             pass that it was in ends.",
        )
        .input("dataset", DType::Variant)
        .input("iterator", DType::Resource)
        .infer(|cx| {
            cx.scalar(0)?;
            cx.scalar(1)
        })
        .kernel(Kernel::stateful(run))
        .gradient(Gradient::none("datasets carry no gradients, as in TensorFlow"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dataset = Data::input(cx, 0)?;
    cx.resource::<Iterator>(1)?.start(dataset, cx.env)
}

cases! {
    of_a_dataset: "MakeIterator(OptionalNone(), IteratorV2(; shared_name=\"\", container=\"\", output_types={f32}, output_shapes={shape[?]})) ! `dataset` is a optional, not a dataset",
    of_its_types: "MakeIterator(TensorDataset(1; output_shapes={shape[]}), IteratorV2(; shared_name=\"\", container=\"\", output_types={f32}, output_shapes={shape[?]})) ! Data type mismatch at component 0: expected float but got int32",
}
