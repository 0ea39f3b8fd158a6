//! `DatasetToSingleElement`: the only element of a dataset.

use super::datasets::{Data, Spec, typed};
use super::iterator_get_next::A_FILE_OR_A_FUNCTION;
use super::iterators::infer;
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, ensure, invalid};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("DatasetToSingleElement")
        .doc("Returns the only element of a dataset. It is an error if there is none, or another.")
        .input("dataset", DType::Variant)
        .output_list("components", "output_types");
    typed(def)
        .infer(infer)
        .kernel(Kernel::stateful(run).cost(Cost::Estimate(|_, _| A_FILE_OR_A_FUNCTION)))
        .gradient(Gradient::none("datasets carry no gradients, as in TensorFlow"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (dataset, spec) = (Data::input(cx, 0)?, Spec::of(cx.attrs())?);
    let mut pass = dataset.begin(cx.env)?;
    let element = pass.next(cx.env)?.ok_or_else(|| invalid!("Dataset was empty."))?;
    ensure!(pass.next(cx.env)?.is_none(), "Dataset had more than one element.");
    spec.check_element(&element)?;
    element.into_iter().enumerate().for_each(|(i, value)| cx.set(i, value));
    Ok(())
}

cases! {
    the_one: "DatasetToSingleElement(TensorDataset(1, [2 3]; output_shapes={shape[], shape[2]}); output_types={i32, i32}, output_shapes={shape[], shape[2]}) = 1, [2 3]",
    knows_types: "DatasetToSingleElement(variant[]; output_types={i32}, output_shapes={shape[2]}) : i32[2]",
    none: "DatasetToSingleElement(TensorSliceDataset(i32[0] []; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) ! Dataset was empty",
    several: "DatasetToSingleElement(TensorSliceDataset([1 2]; output_shapes={shape[]}); output_types={i32}, output_shapes={shape[]}) ! Dataset had more than one element",
}
