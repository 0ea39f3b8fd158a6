//! `Split` and `SplitV`: splits a tensor into parts along an axis.

use super::slice::part;
use crate::shared::axes::{axis, dim_replaced, listed, replaced, scalar, vector};
use millstream_graph::op::spec::{AnyType, AtLeast, IndexType, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, Known, OpDef};
use millstream_tensor::{DType, PartialShape, Result, Tensor, ensure, invalid};
use smallvec::SmallVec;

pub(crate) fn def() -> [OpDef; 2] {
    [
        OpDef::new("Split")
            .doc("Splits `value` into `num_split` equal parts along axis `split_dim`.")
            .input("split_dim", DType::I32)
            .on_host()
            .input("value", "T")
            .infer(infer_equal)
            .kernel(Kernel::pure(run_equal))
            .gradient(Gradient::of(|cx| grad(cx, 1, 0))),
        OpDef::new("SplitV")
            .doc(
                "Splits `value` into parts of the given sizes along axis `split_dim`. One size may be -1: \
                 it takes the rest of the axis.",
            )
            .input("value", "T")
            .input("size_splits", "Tlen")
            .on_host()
            .input("split_dim", DType::I32)
            .on_host()
            .attr("Tlen", IndexType.or(DType::I64))
            .infer(infer_sized)
            .kernel(Kernel::pure(run_sized))
            .gradient(Gradient::of(|cx| grad(cx, 0, 2))),
    ]
    .map(|def| def.outputs("output", "num_split", "T").attr("num_split", AtLeast(1)).attr("T", AnyType))
}

/// Returns `count` positions from `start` along an axis.
pub(super) fn cut(value: &Tensor, axis: usize, start: usize, count: usize) -> Result<Tensor> {
    let mut begin: SmallVec<[usize; 4]> = SmallVec::from_elem(0, value.rank());
    begin[axis] = start;
    part(value.clone(), &begin, replaced(value.shape(), axis, count))
}

/// Returns the size of one of `parts` equal parts.
fn equal_size(size: usize, axis: usize, parts: usize) -> Result<usize> {
    ensure!(
        size.is_multiple_of(parts),
        "Number of ways to split should evenly divide the split dimension, but got split_dim {axis} (size = {size}) and num_split {parts}";
        "axis {axis} of `value` has size {size}, which cannot be cut into {parts} equal parts"
    );
    Ok(size / parts)
}

/// TensorFlow's message for sizes whose sum does not match the axis.
const DETERMINED: &str = "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the size of the input along split_dim if not fully specified.";

/// Returns the axis, with TensorFlow's message for while a graph is built.
fn known_axis(at: i64, rank: usize) -> Result<usize> {
    axis("split_dim", at, rank).map_err(|e| {
        e.led_by(format!("Dimension size, given by scalar input {at} must be in range [-{rank}, {rank})"))
    })
}

/// Returns the axis, with TensorFlow's message for a run.
fn axis_in_run(at: i64, rank: usize) -> Result<usize> {
    axis("split_dim", at, rank).map_err(|e| {
        let r = rank as i64;
        e.led_by(format!("-input rank({}) <= split_dim < input rank ({r}), but got {at}", -r))
    })
}

/// Gives all outputs unknown dimensions and the input's rank.
fn unknown_parts(cx: &mut InferCx, rank: usize) {
    for i in 0..cx.n_outputs() {
        cx.set(i, PartialShape::unknown_of_rank(rank));
    }
}

fn infer_equal(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    let Some(dims) = cx.input(1).dims() else { return Ok(()) };
    let Some(at) = cx.int(0) else {
        unknown_parts(cx, dims.len());
        return Ok(());
    };
    let axis = known_axis(at, dims.len())?;
    let parts = cx.n_outputs();
    let unfit = |size: usize| {
        format!(
            "Dimension size must be evenly divisible by {parts} but is {size}\n\tNumber of ways to split should evenly divide the split dimension"
        )
    };
    let size = dims[axis].map(|d| equal_size(d, axis, parts).map_err(|e| e.led_by(unfit(d)))).transpose()?;
    for i in 0..cx.n_outputs() {
        cx.set(i, dim_replaced(dims, axis, size));
    }
    Ok(())
}

fn run_equal(cx: &mut KernelCx) -> Result<()> {
    scalar("split_dim", cx.input(0))?;
    let value = cx.take(1);
    let axis = axis_in_run(cx.int(0)?, value.rank())?;
    let size = equal_size(value.shape()[axis], axis, cx.n_outputs())?;
    for i in 0..cx.n_outputs() {
        let out = cut(&value, axis, i * size, size)?;
        cx.set(i, out);
    }
    Ok(())
}

fn infer_sized(cx: &mut InferCx) -> Result<()> {
    let n = cx.n_outputs();
    if let Some(given) = cx.vector(1)? {
        ensure!(given == n, "`size_splits` has {given} entries but `num_split` is {n}");
    }
    cx.scalar(2)?;
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    let Some(at) = cx.int(2) else {
        unknown_parts(cx, dims.len());
        return Ok(());
    };
    let axis = known_axis(at, dims.len())?;
    if let Some(sizes) = cx.ints(1) {
        ensure!(
            sizes.iter().filter(|s| **s == -1).count() <= 1,
            "size_splits can only have one -1";
            "`size_splits` {sizes:?} has more than one -1: only one size can be worked out"
        );
        if let Some(size) = sizes.iter().find(|s| **s < -1) {
            return Err(
                invalid!("Dimension {size} must be >= 0"; "size {size} in `size_splits` {sizes:?} is negative"),
            );
        }
    }
    let known = cx.known(1).and_then(Known::entries).filter(|e| e.len() == n);
    let unfit = |sizes: &[i64], total| {
        format!("can't split axis of size {total} into pieces of size [{}]", listed(sizes, ","))
    };
    let resolved = |(sizes, total): (Vec<i64>, usize)| {
        resolve(&sizes, total, axis).map_err(|e| e.led_by(unfit(&sizes, total)))
    };
    let whole = cx.ints(1).zip(dims[axis]).map(resolved).transpose()?;
    for i in 0..n {
        let size = match (&whole, &known) {
            (Some(sizes), _) => Some(sizes[i]),
            (None, Some(entries)) => entries[i].and_then(|s| usize::try_from(s).ok()),
            (None, None) if n == 1 => dims[axis],
            (None, None) => None,
        };
        cx.set(i, dim_replaced(dims, axis, size));
    }
    Ok(())
}

fn run_sized(cx: &mut KernelCx) -> Result<()> {
    scalar("split_dim", cx.input(2))?;
    vector("size_splits", cx.input(1)).map_err(|e| {
        e.led_by(format!(
            "size of the split_tensor must be 1-D and have the same elements as outputs got {} -D and {} elements",
            cx.input(1).rank(),
            cx.input(1).elements()
        ))
    })?;
    let sizes = cx.ints(1)?;
    ensure!(
        sizes.len() == cx.n_outputs(),
        "`size_splits` has {} entries but `num_split` is {}",
        sizes.len(),
        cx.n_outputs()
    );
    let value = cx.take(0);
    let axis = axis_in_run(cx.int(2)?, value.rank())?;
    if let [one] = sizes[..] {
        let size = value.shape()[axis];
        ensure!(
            one == -1 || usize::try_from(one) == Ok(size),
            "If there is only one output, it must have the same size as the input. Input size: {size} output size: {one}";
            "the only size in `size_splits` is {one}, but axis {axis} of `value` has size {size}"
        );
    }
    let mut start = 0;
    for (i, size) in resolve(&sizes, value.shape()[axis], axis)?.into_iter().enumerate() {
        let out = cut(&value, axis, start, size)?;
        cx.set(i, out);
        start += size;
    }
    Ok(())
}

/// Returns the sizes with -1 replaced by the rest of the axis. Their sum is `total`.
fn resolve(sizes: &[i64], total: usize, axis: usize) -> Result<Vec<usize>> {
    ensure!(
        sizes.iter().filter(|s| **s == -1).count() <= 1,
        "There can only be one -1 in the input.";
        "`size_splits` {sizes:?} has more than one -1: only one size can be worked out"
    );
    let mut sum = 0usize;
    for &s in sizes.iter().filter(|s| **s != -1) {
        let s =
            usize::try_from(s).map_err(|_| invalid!("size {s} in `size_splits` {sizes:?} is negative"))?;
        sum = sum.checked_add(s).filter(|sum| *sum <= total).ok_or_else(|| {
            let over: i128 = sizes.iter().filter(|s| **s != -1).map(|&s| i128::from(s)).sum();
            invalid!("{DETERMINED}  Got: {over}"; "the sizes in `size_splits` {sizes:?} add up to more than {total}, the size of axis {axis} of `value`")
        })?;
    }
    ensure!(
        sum == total || sizes.contains(&-1),
        "{DETERMINED}  Got: {sum}";
        "the sizes in `size_splits` {sizes:?} add up to {sum}, but axis {axis} of `value` has size {total}"
    );
    Ok(sizes.iter().map(|&s| usize::try_from(s).unwrap_or(total - sum)).collect())
}

fn grad(cx: &mut GradCx, value: usize, axis: usize) -> Result<()> {
    let axis = cx.input(axis);
    let parts: Vec<_> = (0..cx.n_outputs()).map(|i| cx.grad(i)).collect();
    match parts.as_slice() {
        [one] => cx.give(value, *one),
        _ => cx.give(value, cx.op("ConcatV2").inputs(parts).input(axis).output()),
    }
    Ok(())
}

cases! {
    rows: "Split(0, [[1 2] [3 4]]; num_split=2) = [[1 2]], [[3 4]]",
    columns: "Split(-1, [[1 2] [3 4]]; num_split=2) = [[1] [3]], [[2] [4]]",
    strings: "Split(0, ['a' 'b']; num_split=1) = ['a' 'b']",
    infers: "Split(1, f32[?,6]; num_split=3) : f32[?,2], f32[?,2], f32[?,2]",
    unknown_axis: "Split(i32[], f32[?,6]; num_split=2) : f32[?,?], f32[?,?]",
    not_equal: "Split(0, [1 2 3]; num_split=2) ! axis 0 of `value` has size 3, which cannot be cut into 2 equal parts",
    no_such_axis: "Split(1, [1 2]; num_split=2) ! `split_dim` is 1",
    sized: "SplitV([1 2 3 4], [1 3], 0; num_split=2) = [1], [2 3 4]",
    sized_with_the_rest: "SplitV([[1 2 3 4]], i64 [1 -1 1], 1; num_split=3) = [[1]], [[2 3]], [[4]]",
    sized_zero: "SplitV([1], [0 1], 0; num_split=2) = i32[0] [], [1]",
    sized_infers: "SplitV(f32[?,5], [2 -1], 1; num_split=2) : f32[?,2], f32[?,3]",
    sized_infers_less: "SplitV(f32[?,5], [2 -1], 0; num_split=2) : f32[2,5], f32[?,5]",
    sizes_unknown: "SplitV(f32[3,5], i32[2], 0; num_split=2) : f32[?,5], f32[?,5]",
    too_much: "SplitV([1 2 3], [2 2], 0; num_split=2) ! add up to more than 3",
    too_little: "SplitV([1 2 3], [1 1], 0; num_split=2) ! add up to 2, but axis 0 of `value` has size 3",
    two_rests: "SplitV([1 2 3], [-1 -1], 0; num_split=2) ! more than one -1",
    negative: "SplitV([1 2 3], [-2 5], 0; num_split=2) ! size -2",
}
