//! `TensorArrayGather` and its newer forms: selected elements as the rows of a tensor.

use super::tensor_arrays::{self, HandleArg, elements, kernel, rows_of, typed_array, versions};
use crate::shared::lists::stacked;
use millstream_graph::op::spec::{AnyShape, AnyType, Spec};
use millstream_graph::op::{GradCx, InferCx, KernelCx, Meaning, OpDef};
use millstream_tensor::{DType, PartialShape, Result, ensure, invalid};

pub(crate) fn def() -> [OpDef; 3] {
    versions(["TensorArrayGather", "TensorArrayGatherV2", "TensorArrayGatherV3"]).map(|(name, by)| {
        OpDef::new(name)
            .doc("Stacks the elements at `indices`, which must have one shape, into a tensor.")
            .handle_in(by, "handle")
            .input("indices", DType::I32)
            .on_host()
            .input("flow_in", DType::F32)
            .output("value", "dtype")
            .attr("dtype", AnyType)
            .attr("element_shape", AnyShape.or(PartialShape::unknown()))
            .infer(infer)
            .kernel(kernel(run))
            .gradient(tensor_arrays::gradient(by, grad))
    })
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let n = cx.vector(1)?;
    cx.scalar(2)?;
    let held = elements(cx, cx.attrs().dtype("dtype")?)?;
    let wanted = cx.attrs().shape("element_shape")?;
    let shape = held.merge(wanted);
    let shape =
        shape.ok_or_else(|| invalid!("the elements have shape {held} but `element_shape` is {wanted}"))?;
    cx.set(0, stacked(n, &shape));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    ensure!(cx.input(1).rank() == 1, "`indices` must be a vector but has shape {}", cx.input(1).shape());
    let array = typed_array(cx, "dtype")?;
    let out = rows_of(&array, cx.ints(1)?, cx.attrs().shape("element_shape")?)?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    tensor_arrays::grows(cx)?;
    let (mut rows, indices) = (cx.grad(0), cx.input(1));
    if cx.origin(1).is_none_or(|node| node.op.meaning != Some(Meaning::Range)) {
        // An element may be read more than once. Each of its rows gets the sum of their gradients, because
        // scattering overwrites.
        let last = cx.op("Max").input(indices).input([0]).attr("keep_dims", false).output();
        // The largest of no indices is the smallest integer.
        let count = cx.op("Maximum").input(last + 1).input(0).output();
        let sums = cx.call("UnsortedSegmentSum", [rows, indices, count]);
        rows = cx.op("GatherV2").inputs([sums, indices]).input(0).output().set_shape(cx.output_shape(0));
    }
    let zeros = cx.zeros_like_input(2);
    cx.give(2, cx.call("TensorListScatterIntoExistingList", [zeros, rows, indices]));
    Ok(())
}

cases! {
    gathers: "a f <- TensorArrayV3(3; dtype=i32) | TensorArrayGatherV3(a, [2 0], TensorArrayScatterV3(a, [0 1 2], [[1 2] [3 4] [5 6]], f); dtype=i32) = [[5 6] [1 2]]",
    by_name: "a <- TensorArrayV2(2; dtype=i32) | TensorArrayGatherV2(a, [1 0], TensorArrayScatterV2(a, [0 1], [5 6], 0.0); dtype=i32) = [6 5]",
    none: "a f <- TensorArrayV3(2; dtype=f32) | TensorArrayGatherV3(a, i32[0] [], f; dtype=f32, element_shape=shape[2]) = f32[0,2] []",
    unwritten_are_zeros: "a f <- TensorArrayV3(2; dtype=i32, element_shape=shape[2]) | TensorArrayGatherV3(a, [0 1], TensorArrayWriteV3(a, 1, [5 6], f); dtype=i32) = [[0 0] [5 6]]",
    infers: "a f <- TensorArrayV3(1; dtype=f32, element_shape=shape[?,3]) | TensorArrayGatherV3(a, i32[4], f32[]; dtype=f32, element_shape=shape[2,?]) : f32[4,2,3]",
    none_of_unknown_shape: "a f <- TensorArrayV3(2; dtype=f32) | TensorArrayGatherV3(a, i32[0] [], f; dtype=f32) ! the element shape is not known beyond [..]",
    unwritten: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayGatherV3(a, [0 1], TensorArrayWriteV3(a, 1, [5 6], f); dtype=i32) ! index 0 cannot be read",
    shapes_differ: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayGatherV3(a, [0 1], TensorArrayWriteV3(a, 1, [5 6], TensorArrayWriteV3(a, 0, [1], f)); dtype=i32) \
                    ! the elements must all have one shape: index 0 has [1] but index 1 has [2]",
    another_shape: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayGatherV3(a, [1], TensorArrayWriteV3(a, 1, [5 6], f); dtype=i32, element_shape=shape[3]) \
                    ! index 1 has shape [2] but `element_shape` is [3]",
    twice: "a f <- TensorArrayV3(2; dtype=i32) | TensorArrayGatherV3(a, [1 1], TensorArrayWriteV3(a, 1, [5 6], f); dtype=i32) ! index 1 cannot be read again",
}
