//! `GetSessionHandle`, `GetSessionHandleV2`: stores a tensor in the session, for later runs.

use super::session_tensors::kept;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Handle, Result, Str, Tensor};

pub(crate) fn def() -> [OpDef; 2] {
    let of = |name, doc, dtype| {
        OpDef::new(name)
            .doc(doc)
            .input("value", "T")
            .output("handle", dtype)
            .attr("T", AnyType)
            .infer(|cx| cx.scalars())
            .kernel(Kernel::stateful(run))
            .gradient(Gradient::none("a handle is a name, as in TensorFlow"))
    };
    [
        of(
            "GetSessionHandle",
            "Stores `value` in the session, and returns the string by which GetSessionTensor finds it in \
             later runs. Each call returns a new string.",
            DType::Str,
        ),
        of(
            "GetSessionHandleV2",
            "Stores `value` as GetSessionHandle does, and returns a resource handle with that string as its \
             name.",
            DType::Resource,
        ),
    ]
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let store = kept(cx)?;
    let handle = store.keep(&cx.node.name, cx.take(0).kept()?);
    let value = match cx.node.output_types[0].dtype {
        DType::Resource => Tensor::handle(Handle::new("TensorHandle", handle, store)),
        _ => Tensor::str(Str::new(handle)?),
    };
    cx.set(0, value);
    Ok(())
}

cases! {
    is_a_string: "GetSessionHandle(f32[?,2]) : str[]",
    is_a_resource: "GetSessionHandleV2(f32[?,2]) : resource[]",
    keeps: "GetSessionTensor(GetSessionHandle([1 2]); dtype=i32) = [1 2]",
    takes_a_value: "GetSessionHandle() ! GetSessionHandle takes 1 input, got 0",
}
