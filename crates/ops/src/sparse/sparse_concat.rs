//! `SparseConcat`: concatenation of sparse tensors along an axis.

use super::entries::{Entries, gives, inferred_of, sizes};
use super::row_numbers::numbers;
use millstream_graph::op::spec::{AnyType, AtLeast, Int};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::I64;
use millstream_tensor::budget::Charged;
use millstream_tensor::sorting::sort;
use millstream_tensor::{Assembler, Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("SparseConcat")
        .doc(
            "Concatenates sparse tensors along axis `concat_dim`, and sorts the entries. Their other sizes \
             must be equal.",
        )
        .inputs("indices", "N", I64)
        .inputs("values", "N", "T")
        .inputs("shapes", "N", I64)
        .output("output_indices", I64)
        .output("output_values", "T")
        .output("output_shape", I64)
        .attr("concat_dim", Int)
        .attr("N", AtLeast(2))
        .attr("T", AnyType)
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let parts = cx.n_inputs() / 3;
    let (mut n, mut rank) = (Some(0usize), None);
    for i in 0..parts {
        let (m, r) = inferred_of(cx, [i, parts + i, 2 * parts + i])?;
        n = n.zip(m).and_then(|(n, m)| n.checked_add(m));
        ensure!(
            rank.is_none() || r.is_none() || rank == r,
            "part {i} has {} axes but the parts before it have {}",
            r.unwrap_or_default(),
            rank.unwrap_or_default()
        );
        rank = rank.or(r);
    }
    if let Some(rank) = rank {
        axis(cx.attrs().int("concat_dim")?, rank)?;
    }
    gives(cx, 0, n, rank);
    Ok(())
}

fn axis(dim: i64, rank: usize) -> Result<usize> {
    let from_front = if dim < 0 { dim.saturating_add(rank as i64) } else { dim };
    usize::try_from(from_front)
        .ok()
        .filter(|a| *a < rank)
        .ok_or_else(|| invalid!("`concat_dim` is {dim}, which is not in -{rank}..{rank}"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let n = cx.n_inputs() / 3;
    let parts = (0..n).map(|i| Entries::new(cx, [i, n + i, 2 * n + i])).collect::<Result<Vec<_>>>()?;
    let axis = axis(cx.attrs().int("concat_dim")?, parts[0].rank)?;
    let too_long = || invalid!("the sum of the sizes of axis {axis} does not fit in 63 bits");
    let mut shape = parts[0].shape.clone();
    shape[axis] = 0;
    // Where each part begins along the axis.
    let mut starts = Vec::with_capacity(n);
    for (p, part) in parts.iter().enumerate() {
        let others = |s: &[i64]| [&s[..axis], &s[axis + 1..]].concat();
        let first = &parts[0].shape;
        let differs = (part.rank == parts[0].rank)
            .then(|| (0..part.rank).find(|&i| i != axis && part.shape[i] != first[i]))
            .flatten();
        if let Some(i) = differs {
            return Err(invalid!(
                "Input shapes must match: expected {} for dimension {i} but got {} at position {p}",
                first[i],
                part.shape[i];
                "part {p} has shape {:?}, the first {:?}: but for axis {axis} they must be equal",
                &part.shape[..],
                &first[..]
            ));
        }
        ensure!(
            part.rank == parts[0].rank && others(&part.shape) == others(&shape),
            "part {p} has shape {:?}, the first {:?}: but for axis {axis} they must be equal",
            &part.shape[..],
            &parts[0].shape[..]
        );
        starts.push(shape[axis]);
        shape[axis] = shape[axis].checked_add(part.shape[axis]).ok_or_else(too_long)?;
    }
    // All entries: the part, and the position in the part.
    let mut all =
        Charged::of(parts.iter().enumerate().flat_map(|(p, part)| (0..part.n).map(move |row| (p, row))))?;
    // An index is inside its part, so the sum is inside the whole.
    let index = |&(p, row): &(usize, usize)| {
        let start = starts[p];
        let own = parts[p].index(row).iter().enumerate();
        own.map(move |(a, at)| if a == axis { at + start } else { *at })
    };
    sort(&mut all, |a, b| index(a).cmp(index(b)))?;
    let mut values = Assembler::new(parts[0].values.dtype(), [all.len()])?;
    for (part, row) in all.iter() {
        values.push(&parts[*part].values, *row, 1)?;
    }
    let indices = Tensor::from_iter([all.len(), shape.len()], all.iter().flat_map(index))?;
    let (values, shape) = (values.finish()?, sizes(&shape)?);
    cx.set(0, indices);
    cx.set(1, values);
    cx.set(2, shape);
    Ok(())
}

// Each entry gets the gradient at the position that its number was moved to.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (dvalues, n) = (cx.grad(1), cx.n_inputs() / 3);
    let mut first = cx.graph().constant(0);
    let mut parts = Vec::with_capacity(n);
    for i in 0..n {
        let shape = cx.shape_of_input(n + i);
        let count = cx.op("Reshape").input(shape).input(cx.ints(&[])).output();
        parts.push(numbers(cx, first, count));
        first = first + count;
    }
    let inputs: Vec<_> =
        (0..3 * n).map(|i| if (n..2 * n).contains(&i) { parts[i - n] } else { cx.input(i) }).collect();
    let concat = cx.op("SparseConcat").inputs(inputs);
    let concat = concat.attr("N", n as i64).attr("concat_dim", cx.attrs().int("concat_dim")?);
    let places = cx.call("InvertPermutation", [concat.finish().output(1)]);
    for (i, numbers) in parts.into_iter().enumerate() {
        let places = cx.call("GatherV2", [places, numbers, cx.graph().constant(0)]);
        cx.give(n + i, cx.call("GatherV2", [dvalues, places, cx.graph().constant(0)]));
    }
    Ok(())
}

cases! {
    side_by_side: "SparseConcat(i64 [[0 1] [2 0]], i64 [[0 0]], [5 6], [7], i64 [3 3], i64 [3 2]; concat_dim=1) = i64 [[0 1] [0 3] [2 0]], [5 7 6], i64 [3 5]",
    one_below_the_other: "SparseConcat(i64 [[0]], i64 [[1]], ['a'], ['b'], i64[1] [2], i64[1] [3]; concat_dim=-1) = i64 [[0] [3]], ['a' 'b'], i64[1] [5]",
    floats: "SparseConcat(i64 [[0 1] [2 0]], i64 [[0 0]], [5.0 6.0], [7.0], i64 [3 3], i64 [3 2]; concat_dim=1) ~ i64 [[0 1] [0 3] [2 0]], [5.0 7.0 6.0], i64 [3 5]",
    infers: "SparseConcat(i64[2,3], i64[?,?], f32[?], f32[4], i64[?], i64[?]; concat_dim=0) : i64[6,3], f32[6], i64[3]",
    sizes_agree: "SparseConcat(i64 [[0 0]], i64 [[0 0]], [1], [2], i64 [3 3], i64 [2 3]; concat_dim=1) ! but for axis 1 they must be equal",
    axis_exists: "SparseConcat(i64 [[0]], i64 [[0]], [1], [2], i64[1] [3], i64[1] [2]; concat_dim=1) ! `concat_dim` is 1",
}
