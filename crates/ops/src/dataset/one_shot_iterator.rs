//! `OneShotIterator`: an iterator over the dataset that a function returns.

use super::datasets::{Data, Spec, typed};
use super::iterators::Iterator;
use crate::shared::handles::{Named, handle_shape};
use millstream_graph::op::spec::{Func, Spec as _, Text};
use millstream_graph::op::{BuildCx, Gradient, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::{DType, Result, invalid};

pub(crate) fn def() -> OpDef {
    let def = OpDef::new("OneShotIterator")
        .doc(
            "Returns a handle to an iterator whose only pass is over the dataset that `dataset_factory` \
             returns. The function takes no arguments, and is called when the iterator is first used.",
        )
        .output("handle", DType::Resource)
        .attr("dataset_factory", Func);
    typed(def)
        .attr("container", Text.or(""))
        .attr("shared_name", Text.or(""))
        .infer(handle_shape)
        .kernel(Kernel::opens(make))
        .gradient(Gradient::none("datasets carry no gradients, as in TensorFlow"))
}

fn make(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let (named, spec) = (Named::or_private(cx.node)?, Spec::of(&cx.node.attrs)?);
    let factory = cx.node.attrs.func("dataset_factory")?.clone();
    Ok(Box::new(move |cx: &mut KernelCx| {
        let handle = named.handle(cx, |resources, container, name| {
            resources.get_or_create(container, name, || Ok(Iterator::new(Some(spec.clone()))))
        })?;
        let open = handle.as_handles().and_then(|handles| handles.first()?.get::<Iterator>());
        let iterator = open.ok_or_else(|| invalid!("an iterator has another kind of handle"))?;
        iterator.start_once(cx.env, || {
            let made = cx.env.library.prepare(&factory)?.call(Vec::new(), cx.env)?;
            let dataset = made.first().filter(|_| made.len() == 1);
            let dataset = dataset.ok_or_else(|| {
                invalid!("The `dataset_factory` function must return exactly one scalar of dtype DT_VARIANT.")
            })?;
            Data::in_tensor(dataset, "the result of `dataset_factory`")
        })?;
        cx.set(0, handle);
        Ok(())
    }))
}

cases! {
    is_a_handle: "OneShotIterator(; dataset_factory=func(f), output_types={f32}, output_shapes={shape[?]}) : resource[]",
    calls_a_function: "OneShotIterator(; dataset_factory=func(f), output_types={f32}, output_shapes={shape[?]}) ! no function `f`",
}
