//! `ExpandDims`: inserts an axis of size 1.

use crate::shared::axes::new_axis;
use millstream_graph::op::spec::{AnyType, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, Lowering, OpDef};
use millstream_tensor::{DType, PartialShape, Result, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("ExpandDims")
        .doc(
            "Inserts an axis of size 1 before axis `dim`. A negative `dim` counts from the back; -1 appends \
             the axis.",
        )
        .input("input", "T")
        .input("dim", "Tdim")
        .on_host()
        .output("output", "T")
        .attr("T", AnyType)
        .attr("Tdim", IndexType.or(DType::I32))
        .infer(infer)
        .kernel(Kernel::pure(run).lowered(|_| Some(Lowering::SameElements)))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    ensure!(
        cx.value(1).is_none_or(|t| t.elements() == 1),
        "'dim' input must be a tensor with a single value";
        "`dim` has shape {}: it must be one number", cx.input(1)
    );
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    let shape = match cx.int(1) {
        Some(at) => {
            let rank = dims.len() as i64;
            let place = new_axis("dim", at, dims.len())
                .map_err(|e| e.led_by(format!("dim {at} not in the interval [{}, {rank}].", -rank - 1)))?;
            let (front, back) = dims.split_at(place);
            crate::shared::axes::joined(&[front, &[Some(1)], back])
        }
        None => PartialShape::unknown_of_rank(dims.len() + 1),
    };
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dim = cx.ints(1)?;
    ensure!(dim.len() == 1, "'dim' must be a tensor with a single value"; "`dim` must hold one number but has shape {}", cx.input(1).shape());
    let (at, rank) = (dim[0], cx.input(0).rank());
    let at = new_axis("dim", at, rank).map_err(|e| {
        e.led_by(format!("Tried to expand dim index {at} for tensor with {rank} dimensions."))
    })?;
    let mut shape = cx.input(0).shape().clone();
    shape.dims_mut().insert(at, 1);
    let out = cx.take(0).into_shape(shape)?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let dx = match cx.known_ints(1).as_deref() {
        Some(&[axis]) if !cx.input_shape(0).is_full() => {
            cx.op("Squeeze").input(dy).attr("squeeze_dims", vec![axis]).output()
        }
        _ => cx.reshaped_to_input(0, dy),
    };
    cx.give(0, dx);
    Ok(())
}

cases! {
    in_front: "ExpandDims([1 2], 0) = [[1 2]]",
    at_the_end: "ExpandDims([1 2], -1) = [[1] [2]]",
    of_a_scalar: "ExpandDims('a', i64 0) = ['a']",
    one_axis: "ExpandDims([1], [0 1]) ! 'dim' input must be a tensor with a single value",
    infers: "ExpandDims(f32[?,3], 1) : f32[?,1,3]",
    unknown_axis: "ExpandDims(f32[?,3], i32[]) : f32[?,?,?]",
    unknown_rank: "ExpandDims(f32[..], 1) : f32[..]",
    no_such_axis: "ExpandDims([1 2], 2) ! `dim` is 2",
}
