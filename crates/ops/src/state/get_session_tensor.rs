//! `GetSessionTensor`: a tensor stored in the session.

use super::session_tensors::{handle, kept};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, PartialShape, Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("GetSessionTensor")
        .doc(
            "Returns the tensor that GetSessionHandle stored in this session under `handle`. It must have \
             dtype `dtype`. Its shape is known only in the run.",
        )
        .input("handle", DType::Str)
        .output("value", "dtype")
        .attr("dtype", AnyType)
        .infer(infer)
        .kernel(Kernel::stateful(run))
        .gradient(Gradient::none("what the session keeps was computed by another run, as in TensorFlow"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    cx.set(0, PartialShape::unknown());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let name = handle(cx)?;
    let value = kept(cx)?.get(&name)?;
    let dtype = cx.attrs().dtype("dtype")?;
    ensure!(value.dtype() == dtype, "the tensor with handle '{name}' is {}, not {dtype}", value.dtype());
    cx.set(0, value);
    Ok(())
}

cases! {
    gives_what_was_kept: "GetSessionTensor(GetSessionHandle(\"a\"); dtype=str) = \"a\"",
    shape_is_known_later: "GetSessionTensor(str[]; dtype=f32) : f32[..]",
    one_handle: "GetSessionTensor(str[2]; dtype=f32) ! `handle` must be a scalar",
    is_there: "GetSessionTensor(\"h;7;cpu\"; dtype=f32) ! The tensor with handle 'h;7;cpu' is not in the session store.",
    of_the_dtype: "GetSessionTensor(GetSessionHandle([1 2]); dtype=f32) ! is i32, not f32",
}
