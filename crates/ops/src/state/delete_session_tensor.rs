//! `DeleteSessionTensor`: removes a tensor that the session keeps.

use super::session_tensors::{handle, kept};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result};

pub(crate) fn def() -> OpDef {
    OpDef::new("DeleteSessionTensor")
        .doc(
            "Removes the tensor that GetSessionHandle stored in this session under `handle`. Fails if there \
             is none.",
        )
        .input("handle", DType::Str)
        .infer(infer)
        .kernel(Kernel::stateful(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    kept(cx)?.delete(&handle(cx)?)
}

cases! {
    infers: "DeleteSessionTensor(str[]) :",
    is_there: "DeleteSessionTensor(\"h;7;cpu\") ! Failed to delete a tensor with handle 'h;7;cpu' in the session store.",
    one_handle: "DeleteSessionTensor(str[2]) ! `handle` must be a scalar",
}
