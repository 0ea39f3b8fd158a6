//! `TensorArrayRead` and its newer forms: reads one element.

use super::tensor_arrays::{self, HandleArg, elements, kernel, typed_array, versions};
use millstream_graph::ListItem;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, InferCx, KernelCx, OpDef};
use millstream_state::journal;
use millstream_tensor::{DType, Error, Result};

pub(crate) fn def() -> [OpDef; 3] {
    versions(["TensorArrayRead", "TensorArrayReadV2", "TensorArrayReadV3"]).map(|(name, by)| {
        OpDef::new(name)
            .doc(
                "Reads element `index`. An unwritten element is zeros if the element shape is fully known, \
                 and an error otherwise.",
            )
            .handle_in(by, "handle")
            .input("index", DType::I32)
            .on_host()
            .input("flow_in", DType::F32)
            .output("value", "dtype")
            .attr("dtype", AnyType)
            .infer(infer)
            .kernel(kernel(run).undoable())
            .gradient(tensor_arrays::gradient(by, grad))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    cx.scalar(2)?;
    let shape = elements(cx, cx.attrs().dtype("dtype")?)?;
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (array, index) = (typed_array(cx, "dtype")?, cx.int(1)?);
    journal::note_element(&array, index);
    let mut value = array.read([index])?;
    let value = value.pop().ok_or_else(|| Error::internal("nothing was read"))?;
    cx.set(0, value);
    Ok(())
}

// Only the element that was read has a gradient.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (grows, value, index) = (tensor_arrays::grows(cx)?, cx.grad(0), cx.input(1));
    cx.give(2, ListItem { index, value, grows });
    Ok(())
}

cases! {
    reads: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayReadV3(a, 0, TensorArrayWriteV3(a, 0, [5 6], f); dtype=i32) = [5 6]",
    unwritten_is_zeros: "a f <- TensorArrayV3(2; dtype=i32, element_shape=shape[2]) | TensorArrayReadV3(a, 0, f; dtype=i32) = [0 0]",
    zeros_like_the_first: "a f <- TensorArrayV3(2; dtype=i32, identical_element_shapes=true) \
                           | TensorArrayReadV3(a, 0, TensorArrayWriteV3(a, 1, [5 6], f); dtype=i32) = [0 0]",
    again: "a f <- TensorArrayV3(1; dtype=f32, clear_after_read=false) | v <- TensorArrayReadV3(a, 0, TensorArrayWriteV3(a, 0, 1.5, f); dtype=f32) \
            | TensorArrayReadV3(a, 0, v; dtype=f32) = 1.5",
    infers: "a f <- TensorArrayV3(1; dtype=f32, element_shape=shape[?,3]) | TensorArrayReadV3(Identity(a), i32[], f32[]; dtype=f32) : f32[?,3]",
    infers_nothing: "TensorArrayReadV3(resource[], i32[], f32[]; dtype=f32) : f32[..]",
    twice: "a f <- TensorArrayV3(1; dtype=f32) | v <- TensorArrayReadV3(a, 0, TensorArrayWriteV3(a, 0, 1.5, f); dtype=f32) \
            | TensorArrayReadV3(a, 0, v; dtype=f32) ! index 0 cannot be read again: it was cleared after it was read",
    unwritten: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayReadV3(a, 0, f; dtype=i32) ! nothing was written there, and the element shape [..] is not fully known",
    out_of_range: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayReadV3(a, 2, f; dtype=i32) ! index 2 cannot be read: there are 2 elements",
    before_the_first: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayReadV3(a, -1, f; dtype=i32) ! index -1 cannot be read",
    another_dtype: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayReadV3(a, 0, f; dtype=f32) ! holds i32, not f32",
    no_array: "TensorArrayReadV3(StackV2(-1; elem_type=i32), 0, 0.0; dtype=i32) ! refers to a stack",
}
