//! `Concat` and `ConcatV2`: concatenation of tensors along an axis.

use crate::shared::axes::{axis, dim_replaced, empty, product, scalar, sum};
use crate::shared::gradient::as_i32;
use millstream_graph::Output;
use millstream_graph::op::spec::{AnyType, AtLeast, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, Known, NodeInfo, OpDef};
use millstream_tensor::{Assembler, DType, Dim, PartialShape, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;
use std::ops::Range;

pub(crate) fn def() -> [OpDef; 2] {
    let doc = "Concatenates the values along an axis. Their other dimensions must be equal.";
    [
        OpDef::new("Concat").input("concat_dim", DType::I32).on_host().inputs("values", "N", "T"),
        OpDef::new("ConcatV2")
            .inputs("values", "N", "T")
            .input("axis", "Tidx")
            .on_host()
            .attr("Tidx", IndexType.or(DType::I32)),
    ]
    .map(|def| {
        def.doc(doc)
            .output("output", "T")
            .attr("N", AtLeast(2))
            .attr("T", AnyType)
            .infer(infer)
            .kernel(Kernel::pure(run))
            .gradient(Gradient::of(grad))
    })
}

/// Returns the range of the values among the inputs, and the index of the axis input.
fn layout(node: &NodeInfo) -> Result<(Range<usize>, usize)> {
    let values = node.input_range("values")?;
    let axis = if values.start == 0 { values.end } else { 0 };
    Ok((values, axis))
}

// The output has the sum of the sizes along the axis, and the merged dimensions elsewhere. Entries of vectors
// that hold shapes are propagated, too.
pub(crate) fn infer(cx: &mut InferCx) -> Result<()> {
    let (values, at) = layout(cx.node())?;
    cx.scalar(at)?;
    let shapes = &cx.inputs()[values.clone()];
    let Some(rank) = shapes.iter().find_map(PartialShape::rank) else { return Ok(()) };
    let Some(axis_number) = cx.int(at) else {
        ensure!(
            rank > 0,
            "Can't concatenate scalars (use tf.stack instead)";
            "the values are scalars, which have no axis to be joined along"
        );
        for i in values {
            cx.with_rank(i, rank)?;
        }
        cx.set(0, PartialShape::unknown_of_rank(rank));
        return Ok(());
    };
    if let Some(other) = shapes.iter().find(|s| s.rank().is_some_and(|r| r != rank)) {
        return Err(
            invalid!("{}", other.not_of_rank(rank); "the values have ranks that differ: {rank} and that of {other}"),
        );
    }
    let axis = axis(cx.name_of(at), axis_number, rank).map_err(|e| match rank {
        0 => e.led_by("Can't concatenate scalars (use tf.stack instead)"),
        _ => {
            let least = match axis_number < 0 {
                true => axis_number.unsigned_abs(),
                false => axis_number.unsigned_abs() + 1,
            };
            e.led_by(format!("Shape must be at least rank {least} but is rank {rank}"))
        }
    })?;
    let (mut others, mut total) = (PartialShape::unknown_of_rank(rank), Some(0));
    for (i, shape) in shapes.iter().enumerate() {
        let differs = || {
            invalid!(
                "`values` {i} has shape {shape}, which does not agree with {others} of the others apart from axis {axis}"
            )
            .led_by(difference(&others, shape, axis))
        };
        let shape = shape.merge(&PartialShape::unknown_of_rank(rank)).ok_or_else(differs)?;
        let dims = shape.dims().unwrap_or(&[]);
        others = others.merge(&dim_replaced(dims, axis, None)).ok_or_else(differs)?;
        total = sum(total, shape.dim(axis))?;
    }
    cx.set(0, dim_replaced(others.dims().unwrap_or(&[]), axis, total));
    if let Some(entries) = entries(cx, values, total).filter(|_| rank == 1) {
        cx.set_known(0, Known::Partial { entries, scalar: false });
    }
    Ok(())
}

/// Returns TensorFlow's message for shapes that differ outside the axis: it compares the dimensions before
/// the axis, then those after it.
fn difference(others: &PartialShape, shape: &PartialShape, axis: usize) -> String {
    let (a, b) = (others.dims().unwrap_or(&[]), shape.dims().unwrap_or(&[]));
    if a.len() != b.len() {
        return shape.not_of_rank(a.len());
    }
    let part = |dims: &[Dim]| PartialShape::new(dims.iter().copied());
    let (front, back) = ((part(&a[..axis]), part(&b[..axis])), (part(&a[axis + 1..]), part(&b[axis + 1..])));
    match front.0.merge(&front.1) {
        None => front.0.difference(&front.1),
        Some(_) => back.0.difference(&back.1),
    }
}

/// Returns the concatenated entries of the vectors, if at least one is known and there are at most
/// `MAX_RANK`.
fn entries(cx: &InferCx, values: Range<usize>, total: Dim) -> Option<SmallVec<[Option<i64>; 4]>> {
    total.filter(|n| *n <= millstream_tensor::MAX_RANK)?;
    let mut all = SmallVec::new();
    for i in values {
        match cx.known(i).and_then(Known::entries) {
            Some(known) => all.extend(known),
            None => all.extend(std::iter::repeat_n(None, cx.input(i).dim(0)?)),
        }
    }
    all.iter().any(Option::is_some).then_some(all)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (values, _) = layout(cx.node)?;
    let out = joined(cx, &cx.inputs()[values])?;
    cx.set(0, out);
    Ok(())
}

/// Concatenates parts, which are or were the inputs `values`, along the node's axis.
pub(crate) fn joined(cx: &KernelCx, parts: &[Tensor]) -> Result<Tensor> {
    let (_, at) = layout(cx.node)?;
    scalar(cx.name_of(at), cx.input(at)).map_err(|e| {
        e.led_by(format!(
            "{} tensor should be a scalar integer, but got shape {}",
            cx.name_of(at),
            cx.input(at).shape()
        ))
    })?;
    let first = parts.first().map_or(&[] as &[usize], |p| p.shape());
    let (axis_number, rank) = (cx.int(at)?, first.len() as i64);
    let axis = axis(cx.name_of(at), axis_number, first.len()).map_err(|e| {
        e.led_by(format!(
            "ConcatOp : Expected concatenating dimensions in the range [{}, {rank}), but got {axis_number}",
            -rank
        ))
    })?;
    let mut shape = Shape::from(first);
    for (i, part) in parts.iter().enumerate().skip(1) {
        let agrees = part.rank() == first.len()
            && part.shape().iter().zip(first).enumerate().all(|(a, (x, y))| a == axis || x == y);
        ensure!(
            agrees,
            "ConcatOp : {} should match: shape[0] = {} vs. shape[{i}] = {}",
            if part.rank() == first.len() { "Dimensions of inputs" } else { "Ranks of all input tensors" },
            Shape::from(first),
            part.shape();
            "`values` {i} has shape {}, which does not agree with {} of `values` 0 apart from axis {axis}",
            part.shape(),
            Shape::from(first)
        );
        let total = &mut shape.dims_mut()[axis];
        *total = total
            .checked_add(part.shape()[axis])
            .ok_or_else(|| invalid!("axis {axis} of the result is too large"))?;
    }
    interleave(shape, product(&first[..axis]), parts)
}

/// Cuts each part into `outer` runs of equal length, and concatenates the first run of every part, then the
/// second, and so on. The parts have as many elements in total as `shape`, and `outer` divides the number of
/// elements of each.
pub(super) fn interleave(shape: Shape, outer: usize, parts: &[Tensor]) -> Result<Tensor> {
    let dtype = parts.first().map_or(DType::F32, Tensor::dtype);
    let count = shape.checked_elements()?;
    if count == 0 {
        return empty(dtype, shape);
    }
    let row = count / outer;
    // Many short runs: a strided pass per part beats a copy per run.
    if outer > 16 && row / parts.len().max(1) < 16 && dtype.size().is_some() {
        let mut out = Tensor::zeros(dtype, shape)?;
        let mut at = 0;
        for part in parts {
            let run = part.elements() / outer;
            out.assign_strided(at as isize, &[row as isize, 1], [outer, run], part)?;
            at += run;
        }
        return Ok(out);
    }
    let mut out = Assembler::new(dtype, shape)?;
    out.push_interleaved(parts, outer)?;
    out.finish()
}

// Each value receives its slice of the gradient.
fn grad(cx: &mut GradCx) -> Result<()> {
    let (values, at) = layout(cx.node())?;
    let (first, n) = (values.start, values.len());
    let dy = cx.grad(0);
    let axis = cx.known_ints(at).and_then(|axis| axis.first().copied());
    let wanted: Vec<usize> = (0..n).filter(|&i| cx.wants(first + i)).collect();
    match axis.and_then(|axis| sizes(cx, axis, first..first + n)) {
        Some((axis, _, sizes)) if wanted.len() == n => {
            let parts = cx
                .op("SplitV")
                .input(dy)
                .input(sizes)
                .input(axis as i32)
                .attr("num_split", n as i64)
                .finish();
            (0..n).for_each(|i| cx.give(first + i, parts.output(i as u32)));
        }
        Some((axis, rank, sizes)) => {
            for i in wanted {
                let (mut begin, mut size) = (vec![0; rank], vec![-1; rank]);
                (begin[axis], size[axis]) = (sizes[..i].iter().sum(), sizes[i]);
                cx.give(first + i, cx.op("Slice").input(dy).input(begin).input(size).output());
            }
        }
        None => {
            let axis = match axis {
                Some(axis) if 0 <= axis => cx.graph().constant(axis as i32),
                _ => {
                    let axis = cx.input(at);
                    as_i32(cx, axis) % cx.call("Rank", [dy])
                }
            };
            let shapes: Vec<Output<'_>> = (first..first + n).map(|i| cx.shape_of_input(i)).collect();
            let offsets = cx.op("ConcatOffset").input(axis).inputs(&shapes).finish();
            for i in wanted {
                cx.give(first + i, cx.call("Slice", [dy, offsets.output(i as u32), shapes[i]]));
            }
        }
    }
    Ok(())
}

/// Returns the axis counted from the front, the rank, and the sizes of these inputs along the axis, if all
/// are known.
fn sizes(cx: &GradCx, axis: i64, inputs: Range<usize>) -> Option<(usize, usize, Vec<i64>)> {
    let rank = inputs.clone().find_map(|i| cx.input_shape(i).rank())?;
    let axis =
        usize::try_from(if axis < 0 { axis + rank as i64 } else { axis }).ok().filter(|&a| a < rank)?;
    let sizes = inputs.map(|i| i64::try_from(cx.input_shape(i).dim(axis)?).ok());
    Some((axis, rank, sizes.collect::<Option<_>>()?))
}

cases! {
    rows: "ConcatV2([[1 2]], [[3 4] [5 6]], 0) = [[1 2] [3 4] [5 6]]",
    columns: "ConcatV2([[1 2] [3 4]], [[5] [6]], i64 -1) = [[1 2 5] [3 4 6]]",
    many_short_rows: "ConcatV2([[1] [2] [3] [4] [5] [6] [7] [8] [9] [10] [11] [12] [13] [14] [15] [16] [17]], [[1] [2] [3] [4] [5] [6] [7] [8] [9] [10] [11] [12] [13] [14] [15] [16] [17]], 1) = [[1 1] [2 2] [3 3] [4 4] [5 5] [6 6] [7 7] [8 8] [9 9] [10 10] [11 11] [12 12] [13 13] [14 14] [15 15] [16 16] [17 17]]",
    with_nothing: "ConcatV2(f32[0] [], [1.0], f32[0] [], 0) = [1.0]",
    strings: "ConcatV2(['a'], ['b' 'c'], 0) = ['a' 'b' 'c']",
    axis_first: "Concat(0, [1], [2]) = [1 2]",
    infers: "ConcatV2(f32[?,3], f32[2,?], 1) : f32[2,?]",
    infers_the_sum: "ConcatV2(f32[5,3], f32[?,?], f32[2,?], 0) : f32[?,3]",
    unknown_axis: "Concat(i32[], f32[?,3], f32[2,3]) : f32[?,?]",
    one_rank_at_any_axis: "ConcatV2(f32[2,3], f32[2], i32[]) ! Shape must be rank 2 but is rank 1",
    unknown_rank: "ConcatV2(f32[..], f32[..], 1) : f32[..]",
    dims_differ: "ConcatV2([[1 2]], [[3]], 0) ! does not agree",
    ranks_differ: "ConcatV2(f32[2], f32[2,2], 0) ! the values have ranks that differ",
    no_such_axis: "ConcatV2([1], [2], 1) ! `axis` is 1, which is not in -1..1 for rank 1",
    scalars: "ConcatV2(1, 2, 0) ! a scalar has no axes",
}
