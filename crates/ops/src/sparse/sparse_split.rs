//! `SparseSplit`: splits a sparse tensor into parts along an axis.

use super::entries::{Entries, inferred_of, sizes};
use super::row_numbers::numbers;
use millstream_graph::Output;
use millstream_graph::op::spec::{AnyType, AtLeast};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::budget::Charged;
use millstream_tensor::{Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseSplit")
        .doc(
            "Splits a sparse tensor along axis `split_dim` into `num_split` parts. If the parts cannot be \
             equal, the first ones are longer by one.",
        )
        .input("split_dim", I64)
        .input("indices", I64)
        .input("values", "T")
        .input("shape", I64)
        .outputs("output_indices", "num_split", I64)
        .outputs("output_values", "num_split", "T")
        .outputs("output_shape", "num_split", I64)
        .attr("num_split", AtLeast(1))
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    let (_, rank) = inferred_of(cx, [1, 2, 3])?;
    let parts = cx.n_outputs() / 3;
    for i in 0..parts {
        cx.set(i, [None, rank]);
        cx.set(parts + i, [None]);
        cx.set(2 * parts + i, [rank]);
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let all = Entries::new(cx, [1, 2, 3])?;
    let (dim, parts) = (cx.int(0)?, cx.n_outputs() / 3);
    let axis = usize::try_from(dim)
        .ok()
        .filter(|a| *a < all.rank)
        .ok_or_else(|| invalid!("Input split_dim should be between 0 and rank ({}), got {dim}", all.rank; "`split_dim` is {dim} but must be in 0..{}", all.rank))?;
    let size = all.shape[axis];
    ensure!(
        parts as i64 <= size,
        "Input num_split should be between 1 and the splitting dimension size ({size}), got {parts}";
        "`num_split` is {parts} but axis {axis} has size {size}"
    );
    let (least, longer) = (size / parts as i64, size % parts as i64);
    let mut start = 0;
    for i in 0..parts {
        let len = least + i64::from((i as i64) < longer);
        let inside = |row: &usize| (start..start + len).contains(&all.index(*row)[axis]);
        let rows = Charged::of((0..all.n).filter(inside))?;
        let moved = |row: &usize| {
            let index = all.index(*row).iter().enumerate();
            index.map(move |(a, at)| if a == axis { at - start } else { *at })
        };
        let mut shape = all.shape.clone();
        shape[axis] = len;
        let indices = Tensor::from_iter([rows.len(), all.rank], rows.iter().flat_map(moved))?;
        let (values, shape) = (all.values.take([rows.len()], &rows)?, sizes(&shape)?);
        cx.set(i, indices);
        cx.set(parts + i, values);
        cx.set(2 * parts + i, shape);
        start += len;
    }
    Ok(())
}

// Each entry gets the gradient at the position that its number was moved to, counted through all parts.
fn grad<'g>(cx: &mut GradCx<'g, '_>) -> Result<()> {
    let (dim, indices, shape, n) = (cx.input(0), cx.input(1), cx.input(3), cx.n_outputs() / 3);
    let count = cx.shape_of_input(2);
    let all = numbers(cx, cx.graph().constant(0), cx.op("Reshape").input(count).input(cx.ints(&[])).output());
    let split = cx.op("SparseSplit").inputs([dim, indices, all, shape]).attr("num_split", n as i64).finish();
    let g = cx.graph();
    let joined = |parts: Vec<Output<'g>>| match parts[..] {
        [one] => one,
        _ => g.op("ConcatV2").inputs(parts).input(0).attr("N", n as i64).output(),
    };
    let places = cx.call("InvertPermutation", [joined((n..2 * n).map(|i| split.output(i as u32)).collect())]);
    let dparts = joined((n..2 * n).map(|i| cx.grad(i)).collect());
    cx.give(2, cx.call("GatherV2", [dparts, places, cx.graph().constant(0)]));
    Ok(())
}

cases! {
    halves: "SparseSplit(i64 1, i64 [[0 1] [2 3]], [5 6], i64 [3 4]; num_split=2) = i64 [[0 1]], i64 [[2 1]], [5], [6], i64 [3 2], i64 [3 2]",
    first_is_longer: "SparseSplit(i64 0, i64 [[1] [2]], ['a' 'b'], i64[1] [3]; num_split=2) = i64 [[1]], i64 [[0]], ['a'], ['b'], i64[1] [2], i64[1] [1]",
    three_parts: "SparseSplit(i64 0, i64 [[1 0] [2 3] [2 4]], [5.0 6.0 7.0], i64 [3 5]; num_split=3) \
                  ~ i64[0,2] [], i64 [[0 0]], i64 [[0 3] [0 4]], f32[0] [], [5.0], [6.0 7.0], i64 [1 5], i64 [1 5], i64 [1 5]",
    infers: "SparseSplit(i64[], i64[?,2], f32[?], i64[?]; num_split=1) : i64[?,2], f32[?], i64[2]",
    too_many: "SparseSplit(i64 0, i64 [[1]], [1], i64[1] [3]; num_split=4) ! `num_split` is 4 but axis 0 has size 3",
    axis_exists: "SparseSplit(i64 1, i64 [[1]], [1], i64[1] [3]; num_split=1) ! `split_dim` is 1",
}
