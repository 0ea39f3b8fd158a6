//! `Pack`: stacks tensors of one shape along a new axis.

use super::concat::interleave;
use crate::shared::axes::{joined, new_axis, product};
use millstream_graph::op::spec::{AnyType, AtLeast, Int, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, Known, OpDef};
use millstream_tensor::{Element, Result, Tensor, ensure, invalid, with_element};
use smallvec::SmallVec;

pub(crate) fn def() -> OpDef {
    OpDef::new("Pack")
        .doc("Stacks the values, all of one shape, along a new axis at position `axis`.")
        .inputs("values", "N", "T")
        .output("output", "T")
        .attr("N", AtLeast(1))
        .attr("T", AnyType)
        .attr("axis", Int.or(0i64))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let mut shape = cx.input(cx.n_inputs() - 1).clone();
    // The order is from the last to the first, as in TensorFlow, because the message names the shapes in that
    // order.
    for (i, other) in cx.inputs().iter().enumerate().rev() {
        shape = other.merge(&shape).ok_or_else(|| {
            let words = other.difference(&shape);
            invalid!("`values` {i} has shape {other}, but the others have {shape}; they must be equal")
                .led_by(format!("{words}\n\tFrom merging shape {i} with other shapes."))
        })?;
    }
    let Some(dims) = shape.dims() else { return Ok(()) };
    let at = place(cx.attrs().int("axis")?, dims.len())?;
    let (front, back) = dims.split_at(at);
    cx.set(0, joined(&[front, &[Some(cx.n_inputs())], back]));
    let entries: SmallVec<_> = (0..cx.n_inputs()).map(|i| cx.int(i)).collect();
    if dims.is_empty() && entries.iter().any(Option::is_some) {
        cx.set_known(0, Known::Partial { entries, scalar: false });
    }
    Ok(())
}

/// Returns the position of the new axis.
fn place(axis: i64, rank: usize) -> Result<usize> {
    let n = rank as i64 + 1;
    new_axis("axis", axis, rank).map_err(|e| e.led_by(format!("axis = {axis} not in [{}, {n})", -n)))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let first = cx.input(0).shape();
    for (i, other) in cx.inputs().iter().enumerate() {
        ensure!(
            other.shape() == first,
            "Shapes of all inputs must match: values[0].shape = {first} != values[{i}].shape = {}",
            other.shape();
            "`values` {i} has shape {}, but `values` 0 has {first}; they must be equal",
            other.shape()
        );
    }
    let at = place(cx.attrs().int("axis")?, first.rank())?;
    let dtype = cx.input(0).dtype();
    let out = if first.rank() == 0 && dtype.size().is_some() {
        with_element!(dtype, T => scalars::<T>(cx.inputs())?, else => return Err(invalid!("{dtype} is not plain data")))
    } else {
        let outer = product(&first[..at]);
        let mut shape = first.clone();
        shape.dims_mut().insert(at, cx.n_inputs());
        interleave(shape, outer, cx.inputs())?
    };
    cx.set(0, out);
    Ok(())
}

/// Returns a vector of scalars.
fn scalars<T: Element>(values: &[Tensor]) -> Result<Tensor> {
    if let [one] = values {
        return Tensor::vector(&[one.to_scalar::<T>()?]);
    }
    let values: SmallVec<[T; 8]> = values.iter().map(Tensor::to_scalar).collect::<Result<_>>()?;
    Tensor::vector(&values)
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dy, n) = (cx.grad(0), cx.n_inputs());
    let parts =
        cx.op("Unpack").input(dy).attr("num", n as i64).attr("axis", cx.attrs().int("axis")?).finish();
    (0..n).for_each(|i| cx.give(i, parts.output(i as u32)));
    Ok(())
}

cases! {
    scalars: "Pack(1, 2, 3) = [1 2 3]",
    rows: "Pack([1 2], [3 4]) = [[1 2] [3 4]]",
    columns: "Pack([1 2], [3 4]; axis=1) = [[1 3] [2 4]]",
    from_the_back: "Pack([[1 2]], [[3 4]]; axis=-2) = [[[1 2] [3 4]]]",
    strings: "Pack('a', 'b') = ['a' 'b']",
    one: "Pack([1.5]) = [[1.5]]",
    infers: "Pack(f32[?,3], f32[2,?]; axis=-1) : f32[2,3,2]",
    unknown_rank: "Pack(f32[..], f32[..]) : f32[..]",
    shapes_differ: "Pack([1 2], [3]) ! they must be equal",
    no_such_axis: "Pack(1, 2; axis=1) ! `axis` is 1",
}
