//! `TensorArray`, `TensorArrayV2`, `TensorArrayV3`: an array of tensors that lives for one step.

use super::tensor_arrays::{By, HandleArg, kernel, new_handle, set_array};
use millstream_graph::op::spec::{AnyShape, AnyType, Bool, Spec, Text};
use millstream_graph::op::{Gradient, InferCx, KernelCx, OpDef};
use millstream_state::{TensorArray, TensorArrayOptions};
use millstream_tensor::{DType, PartialShape, Result, Tensor, invalid};
use std::sync::Arc;

pub(crate) fn def() -> [OpDef; 3] {
    [("TensorArray", By::Reference), ("TensorArrayV2", By::Strings), ("TensorArrayV3", By::Resource)].map(
        |(name, by)| {
            let def = OpDef::new(name)
                .doc(
                    "Creates a TensorArray of `size` elements that lives for one step. Each element is \
                     written once and read back; the `flow` that the ops pass on orders them. With \
                     `dynamic_size` the array grows as needed. With `clear_after_read` an element can be \
                     read only once. With `identical_element_shapes` all elements have the shape of the \
                     first one written.",
                )
                .input("size", DType::I32)
                .on_host()
                .handle_out(by, "handle");
            let def = if by == By::Resource { def.output("flow", DType::F32) } else { def };
            let def = def
                .attr("dtype", AnyType)
                .attr("element_shape", AnyShape.or(PartialShape::unknown()))
                .attr("dynamic_size", Bool.or(false))
                .attr("clear_after_read", Bool.or(true));
            let def =
                if by == By::Resource { def.attr("identical_element_shapes", Bool.or(false)) } else { def };
            def.attr("tensor_array_name", Text.or(""))
                .infer(infer)
                .kernel(kernel(run))
                .gradient(Gradient::none("it holds nothing yet"))
        },
    )
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    // TensorFlow reports a negative size only in the run.
    let (dtype, shape) = (cx.attrs().dtype("dtype")?, cx.attrs().shape("element_shape")?.clone());
    if cx.n_outputs() > 1 {
        set_array(cx, dtype, shape);
        cx.set(1, PartialShape::scalar());
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let attrs = cx.attrs();
    let size = cx.int(0)?;
    let len = usize::try_from(size)
        .map_err(|_| invalid!("Size should be >= 0."; "`size` is {size} but must not be negative"))?;
    let given = attrs.str("tensor_array_name")?.text();
    let name = if given.is_empty() { cx.node.name.as_str() } else { &*given };
    let options = TensorArrayOptions {
        element_shape: attrs.shape("element_shape")?.clone(),
        dynamic_size: attrs.bool("dynamic_size")?,
        clear_after_read: attrs.bool("clear_after_read")?,
        identical_element_shapes: cx.n_outputs() > 1 && attrs.bool("identical_element_shapes")?,
    };
    let array = Arc::new(TensorArray::new(name, attrs.dtype("dtype")?, len, options)?);
    let handle = new_handle(cx, name, array)?;
    cx.set(0, handle);
    if cx.n_outputs() > 1 {
        cx.set(1, Tensor::scalar(0f32));
    }
    Ok(())
}

cases! {
    has_a_size: "a f <- TensorArrayV3(3; dtype=f32) | TensorArraySizeV3(a, f) = 3",
    by_name: "a <- TensorArrayV2(3; dtype=f32) | TensorArraySizeV2(a, 0.0) = 3",
    by_reference: "a <- TensorArray(3; dtype=f32) | TensorArraySize(a, 0.0) = 3",
    infers: "TensorArrayV3(i32[]; dtype=f32) : resource[..], f32[]",
    not_negative: "TensorArrayV3(-1; dtype=f32) ! `size` is -1 but must not be negative",
    one_size: "TensorArrayV3([1 2]; dtype=f32) ! `size` must be a scalar",
    not_too_large: "TensorArrayV3(2147483647; dtype=f32) ! 2147483647 items are too many",
}
