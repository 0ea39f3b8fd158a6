//! `IteratorFromStringHandle`, `IteratorFromStringHandleV2`: the iterator that a string names.

use super::datasets::Spec;
use super::iterators::Iterator;
use millstream_graph::Attr;
use millstream_graph::op::spec::{ShapeList, Spec as _, TypeList};
use millstream_graph::op::{Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Handle, Result, Tensor, invalid};

pub(crate) fn def() -> [OpDef; 2] {
    ["IteratorFromStringHandle", "IteratorFromStringHandleV2"].map(|name| {
        OpDef::new(name)
            .doc(
                "Returns the handle of the iterator that `string_handle` names, which must be of the types \
                 `output_types` and `output_shapes`, if these are given.",
            )
            .input("string_handle", DType::Str)
            .output("resource_handle", DType::Resource)
            .attr("output_types", TypeList.or(Attr::List(Vec::new())))
            .attr("output_shapes", ShapeList.or(Attr::List(Vec::new())))
            .infer(|cx| {
                cx.scalar(0)?;
                cx.scalars()
            })
            .kernel(Kernel::stateful(run))
            .gradient(Gradient::none("datasets carry no gradients, as in TensorFlow"))
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let text = cx.input(0).as_strs().and_then(|strs| strs.first()).map(|s| s.text().into_owned());
    let text = text.unwrap_or_default();
    let unknown = || {
        invalid!("the string does not name an iterator: {text:?}")
            .led_by("Could not parse string_handle as a valid ResourceHandle")
            .with_help(
                "feed what a run of `Iterator.string_handle` in this session returned, and keep that session open",
            )
    };
    let parts: Vec<&str> = text.splitn(3, '\n').collect();
    let [kind, container, name] = parts.as_slice() else { return Err(unknown()) };
    let found = match *kind {
        "shared" => cx.env.resources.get::<Iterator>(container, name),
        "private" => cx.env.kernel_state.get::<Iterator>(&format!("private/{container}"), name),
        _ => return Err(unknown()),
    };
    let iterator = found.map_err(|error| unknown().note(error.message()))?;
    let spec = Spec::of(cx.attrs())?;
    if !spec.dtypes.is_empty() {
        iterator.check_is(&spec)?;
    }
    cx.set(0, Tensor::handle(Handle::new(*container, *name, iterator)));
    Ok(())
}

cases! {
    is_a_handle: "IteratorFromStringHandleV2(str[]; output_types={f32}, output_shapes={shape[?]}) : resource[]",
    of_a_name: "IteratorFromStringHandle(\"shared\\n\\na\") ! does not name an iterator",
    of_a_handle: "IteratorFromStringHandleV2(\"a\") ! Could not parse string_handle as a valid ResourceHandle",
    of_other_types: "IteratorFromStringHandleV2(IteratorToStringHandle(IteratorV2(; shared_name=\"a\", container=\"\", output_types={i64}, output_shapes={shape[]})); output_types={f32}, output_shapes={shape[]}) ! Data type mismatch at component 0: expected float but got int64",
}
