//! `SparseSlice`: a contiguous box of a sparse tensor.

use super::entries::{Entries, gives, inferred, sizes};
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::budget::Charged;
use millstream_tensor::{Result, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseSlice")
        .doc(
            "Returns the slice of a sparse tensor that begins at `start` and has shape `size`, or less \
             where the tensor ends earlier.",
        )
        .input("indices", I64)
        .input("values", "T")
        .input("shape", I64)
        .input("start", I64)
        .input("size", I64)
        .output("output_indices", I64)
        .output("output_values", "T")
        .output("output_shape", I64)
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (_, rank) = inferred(cx, 0)?;
    let (start, size) = (cx.vector(3)?, cx.vector(4)?);
    gives(cx, 0, None, rank.or(start).or(size));
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let all = Entries::of(cx, 0)?;
    let (start, size) = (cx.ints(3)?, cx.ints(4)?);
    for (i, given) in [(3, &start), (4, &size)] {
        ensure!(
            cx.input(i).shape().dims() == [all.rank],
            "`{}` has shape {} but must have an entry for each of {} axes",
            cx.name_of(i),
            cx.input(i).shape(),
            all.rank
        );
        ensure!(
            given.iter().all(|v| 0 <= *v),
            "`{}` is {:?}: it must not be negative",
            cx.name_of(i),
            &given[..]
        );
    }
    let axes = || all.shape.iter().zip(start.iter().zip(&size));
    let shape: Vec<i64> =
        axes().map(|(dim, (start, size))| (*size).min(dim.saturating_sub(*start)).max(0)).collect();
    let inside = |row: &usize| {
        let places = all.index(*row).iter().zip(start.iter().zip(&shape));
        places.into_iter().all(|(at, (start, size))| (0..*size).contains(&(at - start)))
    };
    let rows = Charged::of((0..all.n).filter(inside))?;
    let moved = |row: &usize| all.index(*row).iter().zip(&start).map(|(at, start)| at - start);
    let indices = Tensor::from_iter([rows.len(), all.rank], rows.iter().flat_map(moved))?;
    let (values, shape) = (all.values.take([rows.len()], &rows)?, sizes(&shape)?);
    cx.set(0, indices);
    cx.set(1, values);
    cx.set(2, shape);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let (dvalues, indices, start, taken) = (cx.grad(1), cx.input(0), cx.input(3), cx.output(0));
    cx.give(1, cx.call("SparseSliceGrad", [dvalues, indices, start, taken]));
    Ok(())
}

cases! {
    takes_a_part: "SparseSlice(i64 [[0 1] [2 0]], [5 6], i64 [3 3], i64 [1 0], i64 [2 2]) = i64 [[1 0]], [6], i64 [2 2]",
    ends_with_the_tensor: "SparseSlice(i64 [[3]], ['x'], i64[1] [4], i64[1] [2], i64[1] [9]) = i64 [[1]], ['x'], i64[1] [2]",
    beyond_the_end: "SparseSlice(i64 [[3]], [1], i64[1] [4], i64[1] [9], i64[1] [2]) = i64[0,1] [], i32[0] [], i64[1] [0]",
    infers: "SparseSlice(i64[5,?], f32[5], i64[?], i64[3], i64[?]) : i64[?,3], f32[?], i64[3]",
    not_negative: "SparseSlice(i64 [[3]], [1], i64[1] [4], i64[1] [-1], i64[1] [2]) ! `start` is [-1]",
    an_entry_per_axis: "SparseSlice(i64 [[3]], [1], i64[1] [4], i64 [0 0], i64[1] [2]) ! an entry for each of 1 axes",
}
