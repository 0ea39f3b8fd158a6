//! `TensorArrayWrite` and its newer forms: writes one element.

use super::tensor_arrays::{self, HandleArg, array, elements, flow_on, kernel, versions, write};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, InferCx, KernelCx, OpDef, grown};
use millstream_state::journal;
use millstream_tensor::{DType, PartialShape, Result, ensure};

pub(crate) fn def() -> [OpDef; 3] {
    versions(["TensorArrayWrite", "TensorArrayWriteV2", "TensorArrayWriteV3"]).map(|(name, by)| {
        OpDef::new(name)
            .doc(
                "Writes `value` to element `index`, which must not have been written or read before. A \
                 gradient TensorArray adds `value` to the element instead.",
            )
            .handle_in(by, "handle")
            .input("index", DType::I32)
            .on_host()
            .input("value", "T")
            .input("flow_in", DType::F32)
            .output("flow_out", DType::F32)
            .attr("T", AnyType)
            .infer(infer)
            .kernel(kernel(run).undoable())
            .gradient(tensor_arrays::gradient(by, grad))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(1)?;
    cx.scalar(3)?;
    let (shape, value) = (elements(cx, cx.dtype(2))?, cx.input(2));
    ensure!(
        shape.is_compatible(value),
        "Inconsistent shapes: saw {} but expected {}", value.as_tuple(), shape.as_tuple();
        "a value of shape {value} is written to a TensorArray of elements of shape {shape}"
    );
    cx.set(0, PartialShape::scalar());
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (index, value) = (cx.int(1)?, cx.take(2));
    journal::note_element(&array(cx)?, index);
    write(cx, [Ok((index, value))])?;
    flow_on(cx, 3, 0);
    Ok(())
}

// No element is written twice, so earlier writes have the gradients of the resulting flow.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (grows, dlist) = (tensor_arrays::grows(cx)?, cx.grad(0));
    cx.give(3, dlist);
    if cx.wants(2) {
        let (index, dtype, shape) = (cx.input(1), cx.dtype(2), cx.input_shape(2));
        let dlist = if grows { grown(dlist, index) } else { dlist };
        // The element may not have been read.
        let item = cx.shape_of_input(2);
        let item = cx.op("TensorListGetItem").inputs([dlist, index, item]).attr("element_dtype", dtype);
        cx.give(2, item.output().set_shape(shape));
    }
    Ok(())
}

cases! {
    writes: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayReadV3(a, 1, TensorArrayWriteV3(a, 1, [5 6], f); dtype=i32) = [5 6]",
    by_name: "a <- TensorArrayV2(2; dtype=i32) | TensorArrayReadV2(a, 1, TensorArrayWriteV2(a, 1, [5 6], 0.0); dtype=i32) = [5 6]",
    by_reference: "a <- TensorArray(2; dtype=i32) | TensorArrayRead(a, 1, TensorArrayWrite(a, 1, [5 6], 0.0); dtype=i32) = [5 6]",
    grows: "a f <- TensorArrayV3(0; dtype=i32, dynamic_size=true) | TensorArraySizeV3(a, TensorArrayWriteV3(a, 4, 1, f)) = 5",
    passes_the_flow_on: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayWriteV3(a, 1, 1, 2.5) = 2.5",
    infers: "TensorArrayWriteV3(resource[], i32[], f32[?], f32[]) : f32[]",
    out_of_range: "a f <- TensorArrayV3(2; dtype=i32, tensor_array_name=\"t\") | TensorArrayWriteV3(a, 2, 1, f) ! TensorArray `t`: index 2 cannot be written: there are 2 elements",
    before_the_first: "a f <- TensorArrayV3(2; dtype=i32, dynamic_size=true) | TensorArrayWriteV3(a, -1, 1, f) ! index -1 cannot be written",
    far_away: "a f <- TensorArrayV3(2; dtype=i32, dynamic_size=true) | TensorArrayWriteV3(a, 2147483647, 1, f) ! items are too many",
    twice: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayWriteV3(a, 0, 1, TensorArrayWriteV3(a, 0, 1, f)) ! index 0 cannot be written: it has been written already",
    after_reading: "a f <- TensorArrayV3(1; dtype=f32, clear_after_read=false) | v <- TensorArrayReadV3(a, 0, TensorArrayWriteV3(a, 0, 1.5, f); dtype=f32) \
                    | TensorArrayWriteV3(a, 0, 1.5, v) ! index 0 cannot be written: it has been read already",
    another_dtype: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayWriteV3(a, 0, 1.0, f) ! holds i32, not f32",
    another_shape: "a f <- TensorArrayV3(2; dtype=i32, element_shape=shape[2]) | TensorArrayWriteV3(a, 0, [1], f) ! of elements of shape [2]",
    shapes_differ: "a f <- TensorArrayV3(2; dtype=i32, identical_element_shapes=true) | TensorArrayWriteV3(a, 0, [1], TensorArrayWriteV3(a, 1, [1 2], f)) \
                    ! a value of shape [1] cannot be written to index 0: its elements have shape [2]",
    one_index: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayWriteV3(a, [0], 1, f) ! `index` must be a scalar",
    no_handle: "TensorArrayWriteV2(['a' 'b'], 0, 1, 0.0) ! container `a` holds nothing under the name `b`",
}
