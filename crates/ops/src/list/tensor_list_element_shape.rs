//! `TensorListElementShape`: the element shape of a list.

use super::lists::{handles, list};
use millstream_graph::op::spec::IndexType;
use millstream_graph::op::{Gradient, InferCx, KernelCx, Known, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Tensor, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("TensorListElementShape")
        .doc(
            "Returns the element shape that the list was created with: -1 for unknown dimensions, a scalar \
             -1 for an unknown rank.",
        )
        .input("input_handle", DType::Variant)
        .output("element_shape", "shape_type")
        .attr("shape_type", IndexType)
        .infer(infer)
        .kernel(handles(run))
        .gradient(Gradient::none("integer output"))
}

// If a list can come from several places, the element shape in the run may be more or less specific than the
// inferred one, but does not contradict it.
fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    let dims = cx.handle(0).and_then(|h| h.shape.dims());
    match dims {
        Some(dims) if dims.iter().all(Option::is_some) => {
            let entries = dims.iter().map(|d| d.map(|d| d as i64)).collect();
            cx.set_known(0, Known::Partial { entries, scalar: false });
        }
        Some(dims) => cx.set(0, [dims.len()]),
        None => cx.set(0, PartialShape::unknown()),
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.attrs().dtype("shape_type")?;
    let shape = list(cx, 0)?.element_shape();
    let dims = shape.dims().map(|dims| dims.iter().map(|d| d.map_or(-1, |d| d as i64)).collect::<Vec<i64>>());
    let narrow = |d: i64| i32::try_from(d).map_err(|_| invalid!("dimension {d} does not fit in an i32"));
    let out = match (dims, dtype) {
        (None, DType::I32) => Tensor::scalar(-1i32),
        (None, _) => Tensor::scalar(-1i64),
        (Some(dims), DType::I32) => {
            Tensor::vector(&dims.into_iter().map(narrow).collect::<Result<Vec<i32>>>()?)?
        }
        (Some(dims), _) => Tensor::vector(&dims)?,
    };
    cx.set(0, out);
    Ok(())
}

cases! {
    unknown_rank: "TensorListElementShape(TensorListFromTensor([1 2], -1); shape_type=i32) = -1",
    unknown_dimensions: "TensorListElementShape(TensorListFromTensor([[1] [2]], [-1]); shape_type=i64) = i64[1] [-1]",
    known: "TensorListElementShape(TensorListReserve([2 3], 0; element_dtype=f32); shape_type=i32) = [2 3]",
    infers_the_rank: "TensorListElementShape(TensorListReserve([2 -1], 0; element_dtype=f32); shape_type=i32) : i32[2]",
    infers: "TensorListElementShape(variant[]; shape_type=i64) : i64[..]",
    too_large_for_an_i32: "TensorListElementShape(EmptyTensorList(i64[1] [4294967296], -1; element_dtype=f32); shape_type=i32) ! i32",
}
