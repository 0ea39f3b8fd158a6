//! `ConcatOffset`: the offsets of the values of a concatenation.

use crate::shared::axes::{axis, counts, ints, vector};
use millstream_graph::op::spec::{AtLeast, IndexType, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("ConcatOffset")
        .doc(
            "Returns the offset of each value in the concatenation along `concat_dim` of values with these \
             shapes.",
        )
        .input("concat_dim", DType::I32)
        .on_host()
        .inputs("shape", "N", "shape_type")
        .on_host()
        .outputs("offset", "N", "shape_type")
        .attr("N", AtLeast(2))
        .attr("shape_type", IndexType.or(DType::I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    for i in 1..cx.n_inputs() {
        let shape = cx.with_rank(i, 1)?;
        cx.set(i - 1, shape);
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    crate::shared::axes::scalar("concat_dim", cx.input(0))?;
    vector("shape", cx.input(1))?;
    let first = ints(cx.input(1))?;
    let axis = axis("concat_dim", cx.int(0)?, first.len())?;
    let dtype = cx.input(1).dtype();
    let mut offset = 0usize;
    for i in 1..cx.n_inputs() {
        vector("shape", cx.input(i))?;
        let shape = ints(cx.input(i))?;
        ensure!(
            shape.len() == first.len()
                && shape.iter().zip(&first).enumerate().all(|(a, (x, y))| a == axis || x == y),
            "`shape` {} is {shape:?}, which does not agree with {first:?} of the first apart from axis {axis}",
            i - 1
        );
        let places = (0..shape.len()).map(|a| if a == axis { offset } else { 0 });
        let out = counts(dtype, [shape.len()], places)?;
        cx.set(i - 1, out);
        offset =
            usize::try_from(shape[axis]).ok().and_then(|size| offset.checked_add(size)).ok_or_else(|| {
                invalid!("size {} on axis {axis} of `shape` {} is not a valid size", shape[axis], i - 1)
            })?;
    }
    Ok(())
}

cases! {
    columns: "ConcatOffset(1, [2 3], [2 4], [2 5]) = [0 0], [0 3], [0 7]",
    from_the_back: "ConcatOffset(-2, [2 3], [1 3]) = [0 0], [2 0]",
    infers: "ConcatOffset(i32[], i32[?], i32[3]) : i32[?], i32[3]",
    shapes_differ: "ConcatOffset(1, [2 3], [1 3]) ! does not agree",
    no_such_axis: "ConcatOffset(2, [2 3], [1 3]) ! `concat_dim` is 2",
}
