//! `Iterator`, `IteratorV2`: opens an iterator by name.

use super::datasets::{Spec, typed};
use super::iterators::Iterator;
use crate::shared::handles::{Named, handle_shape};
use millstream_graph::op::spec::Text;
use millstream_graph::op::{BuildCx, Gradient, Kernel, KernelCx, OpDef, Run};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> [OpDef; 2] {
    ["Iterator", "IteratorV2"].map(|name| {
        let def = OpDef::new(name)
            .doc(
                "Returns a handle to the iterator `shared_name` (by default, the node's name) in `container`, \
                 which is created if it does not exist. `MakeIterator` begins its pass over a dataset.",
            )
            .output("handle", DType::Resource)
            .attr("shared_name", Text)
            .attr("container", Text);
        typed(def)
            .infer(handle_shape)
            .kernel(Kernel::opens(make))
            .gradient(Gradient::none("datasets carry no gradients, as in TensorFlow"))
    })
}

fn make(cx: &BuildCx) -> Result<Box<dyn Run>> {
    let (named, spec) = (Named::new(cx.node)?, Spec::of(&cx.node.attrs)?);
    Ok(Box::new(move |cx: &mut KernelCx| {
        let handle = named.handle(cx, |resources, container, name| {
            let make = || Ok(Iterator::new(Some(spec.clone())));
            let iterator = resources.get_or_create(container, name, make)?;
            iterator.check_same(Some(&spec))?;
            Ok(iterator)
        })?;
        cx.set(0, handle);
        Ok(())
    }))
}

cases! {
    is_a_handle: "IteratorV2(; shared_name=\"\", container=\"\", output_types={f32}, output_shapes={shape[?]}) : resource[]",
    not_started: "IteratorGetNext(Iterator(; shared_name=\"\", container=\"\", output_types={f32}, output_shapes={shape[?]}); output_types={f32}, output_shapes={shape[?]}) ! the iterator has not been initialized",
}
