//! `Slice`: a contiguous box of a tensor.

use crate::shared::axes::ints;
use crate::shared::gradient::as_i32;
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{
    Cost, GradCx, Gradient, InferCx, Kernel, KernelCx, Known, Meaning, NodeInfo, OpDef, ints_of,
};
use millstream_tensor::{Dim, PartialShape, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;

pub(crate) fn def() -> OpDef {
    OpDef::new("Slice")
        .doc(
            "Returns the slice of `input` that begins at `begin` and has shape `size`. A `size` of -1 \
             extends to the end of the axis.",
        )
        .input("input", "T")
        .input("begin", "Index")
        .on_host()
        .input("size", "Index")
        .on_host()
        .output("output", "T")
        .means(Meaning::Slice)
        .attr("T", AnyType)
        .attr("Index", IndexType)
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::Estimate(cost)))
        .gradient(Gradient::of(grad))
}

// The cost counts the elements of the slice and not those of the input.
fn cost(_: &NodeInfo, inputs: &[Tensor]) -> f64 {
    let [input, _, size] = inputs else { return 0.0 };
    let whole = input.elements() as f64;
    let length = |(dim, size): (&usize, i64)| if size < 0 { *dim as f64 } else { size as f64 };
    let dims = input.shape().dims().iter();
    let Ok(sizes) = ints(size) else { return whole };
    dims.zip(sizes).map(length).product::<f64>().min(whole)
}

/// Returns the offset and the size of the part read from axis `i`, as far as they are known.
fn range(i: usize, dim: Dim, begin: Option<i64>, size: Option<i64>) -> Result<(Option<usize>, Dim)> {
    // The largest valid begin or size, for the message.
    let most =
        |what: &str| dim.zip(begin).map_or(0, |(d, b)| if what == "begin" { d as i64 } else { d as i64 - b });
    let place = |what: &str, v: i64| {
        usize::try_from(v).map_err(|_| {
            invalid!(
                "Expected {what}[{i}] in [0, {}], but got {v}", most(what);
                "`{what}` is {v} on axis {i}; it must not be negative"
            )
        })
    };
    let begin = begin.map(|b| place("begin", b)).transpose()?;
    if let (Some(b), Some(d)) = (begin, dim) {
        ensure!(b <= d, "Expected begin[{i}] in [0, {d}], but got {b}"; "`begin` is {b} on axis {i}, past its size {d}");
    }
    let size = match size {
        Some(-1) => dim.zip(begin).map(|(d, b)| d - b),
        Some(s) => Some(place("size", s)?),
        None => None,
    };
    if let (Some(b), Some(s), Some(d)) = (begin, size, dim) {
        ensure!(
            b.checked_add(s).is_some_and(|end| end <= d),
            "Expected size[{i}] in [0, {}], but got {s}",
            d - b;
            "`begin` {b} and `size` {s} reach past the end of axis {i} of size {d}"
        );
    }
    Ok((begin, size))
}

/// As [`range`], while the graph is built. TensorFlow reports a box outside the input only in the run, except
/// for sizes below -1 and for a size of -1 whose begin is past the end of the axis.
fn known_range(i: usize, dim: Dim, begin: Option<i64>, size: Option<i64>) -> Result<(Option<usize>, Dim)> {
    match range(i, dim, begin, size) {
        Ok(range) => Ok(range),
        Err(e) => match (dim, begin, size) {
            (_, _, Some(size)) if size < -1 => {
                Err(e.led_by(format!("Invalid value in tensor used for shape: {size}")))
            }
            (Some(dim), Some(begin), Some(-1)) if 0 <= begin => {
                Err(e.led_by(format!("Negative dimension size caused by subtracting {begin} from {dim}")))
            }
            (_, _, size) => Ok((None, size.and_then(|s| usize::try_from(s).ok()))),
        },
    }
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let n = cx.vector(1)?.or(cx.vector(2)?);
    if let (Some(a), Some(b)) = (cx.vector(1)?, cx.vector(2)?)
        && a != b
    {
        let words = PartialShape::from([a]).difference(&[b].into());
        return Err(invalid!("`begin` has {a} entries and `size` has {b} entries").led_by(words));
    }
    for (i, what) in [(1, "begin"), (2, "size")] {
        if let (Some(n), Some(rank)) = (cx.vector(i)?, cx.input(0).rank()) {
            ensure!(n == rank, "{}", cx.input(0).not_of_rank(n); "`{what}` has {n} entries but `input` has rank {rank}");
        }
    }
    let Some(rank) = cx.input(0).rank().or(n).filter(|&r| r <= millstream_tensor::MAX_RANK) else {
        return Ok(());
    };
    let read = |j: usize| -> SmallVec<[Option<i64>; 4]> {
        cx.known(j).and_then(Known::entries).unwrap_or_else(|| SmallVec::from_elem(None, rank))
    };
    let (begin, size) = (read(1), read(2));
    ensure!(begin.len() == size.len(), "`begin` has {} entries and `size` {}", begin.len(), size.len());
    let ranges = (0..begin.len())
        .map(|i| known_range(i, cx.input(0).dim(i), begin[i], size[i]))
        .collect::<Result<SmallVec<[_; 4]>>>()?;
    cx.set(0, PartialShape::new(ranges.iter().map(|r| r.1)));
    let part = |entries: SmallVec<[Option<i64>; 4]>| match ranges[..] {
        [(Some(b), Some(s))] => entries.get(b..b.saturating_add(s)).map(|e| e.iter().copied().collect()),
        _ => None,
    };
    if let Some(entries) = cx.known(0).and_then(Known::entries).and_then(part) {
        cx.set_known(0, Known::Partial { entries, scalar: false });
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (begin, shape) = bounds(cx.input(0).shape(), cx.input(1), cx.input(2))?;
    let input = cx.take(0);
    let out = part(input, &begin, shape)?;
    cx.set(0, out);
    Ok(())
}

/// Returns where the slice of a tensor of shape `whole` begins, and its shape.
pub(crate) fn bounds(whole: &Shape, begin: &Tensor, size: &Tensor) -> Result<(SmallVec<[usize; 4]>, Shape)> {
    let (begins, sizes) = (ints_of(begin, "begin")?, ints_of(size, "size")?);
    for (t, n, what) in [(begin, begins.len(), "begin"), (size, sizes.len(), "size")] {
        ensure!(
            t.rank() == 1 && n == whole.rank(),
            "Expected begin and size arguments to be 1-D tensors of size {}, but got shapes {} and {} instead.",
            whole.rank(),
            begin.shape(),
            size.shape();
            "`{what}` has {n} entries but `input` has rank {}", whole.rank()
        );
    }
    let (mut from, mut shape) = (SmallVec::new(), Shape::scalar());
    for (i, &dim) in whole.iter().enumerate() {
        let (begin, size) = range(i, Some(dim), Some(begins[i]), Some(sizes[i]))?;
        from.push(begin.unwrap_or(0));
        shape.push(size.unwrap_or(0));
    }
    Ok((from, shape))
}

/// Returns the slice of this shape that begins at `begin` and lies inside `input`. It shares the elements if
/// it consists of whole rows.
pub(crate) fn part(input: Tensor, begin: &[usize], shape: Shape) -> Result<Tensor> {
    if *input.shape() == shape {
        return Ok(input);
    }
    if shape.elements() == 0 {
        return crate::shared::axes::empty(input.dtype(), shape);
    }
    if input.shape()[1..] == shape[1..] {
        return input.rows(begin[0], shape[0]);
    }
    let strides = input.shape().strides();
    let offset: usize = begin.iter().zip(&strides).map(|(b, s)| b * s).sum();
    let strides: SmallVec<[isize; 4]> = strides.iter().map(|&s| s as isize).collect();
    input.strided(shape, offset as isize, &strides)
}

// The gradient is padded with zeros to the input's shape.
fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let paddings = match known_paddings(cx) {
        Some(paddings) => cx.graph().constant(paddings),
        None => {
            let begin = cx.input(1);
            let begin = as_i32(cx, begin);
            let (all, part) = (cx.shape_of_input(0), cx.shape_of_output(0));
            cx.op("Pack").inputs([begin, all - begin - part]).attr("axis", 1).output()
        }
    };
    cx.give(0, cx.call("Pad", [dy, paddings]));
    Ok(())
}

/// Returns the numbers of elements before and after the slice along each axis, if they are known.
fn known_paddings(cx: &GradCx) -> Option<Tensor> {
    let (all, part, begin) = (cx.input_shape(0).full()?, cx.output_shape(0).full()?, cx.known_ints(1)?);
    let mut paddings = Vec::new();
    for ((&all, &part), &begin) in all.iter().zip(part.iter()).zip(&begin) {
        let begin = usize::try_from(begin).ok()?;
        let after = all.checked_sub(begin)?.checked_sub(part)?;
        paddings.extend([i32::try_from(begin).ok()?, i32::try_from(after).ok()?]);
    }
    Tensor::from_slice([begin.len(), 2], &paddings).ok()
}

cases! {
    of_a_vector: "Slice([1 2 3 4], [1], [2]) = [2 3]",
    of_a_matrix: "Slice([[1 2 3] [4 5 6]], i64 [0 1], i64 [2 2]) = [[2 3] [5 6]]",
    to_the_end: "Slice([[1 2 3] [4 5 6]], [1 1], [-1 -1]) = [[5 6]]",
    whole_rows: "Slice([[1 2] [3 4] [5 6]], [1 0], [2 2]) = [[3 4] [5 6]]",
    nothing: "Slice([1 2 3], [3], [-1]) = i32[0] []",
    of_a_scalar: "Slice(5, i32[0] [], i32[0] []) = 5",
    strings: "Slice(['a' 'b' 'c'], [1], [1]) = ['b']",
    infers: "Slice(f32[?,5], [0 2], [3 -1]) : f32[3,3]",
    unknown_numbers: "Slice(f32[4,5], i32[2], i32[2]) : f32[?,?]",
    unknown_rank: "Slice(f32[..], i32[2], i32[?]) : f32[?,?]",
    past_the_end: "Slice([1 2 3], [1], [3]) ! reach past the end of axis 0 of size 3",
    before_the_start: "Slice([1 2 3], [-1], [1]) ! `begin` is -1",
    wrong_length: "Slice([1 2 3], [0 0], [1 1]) ! `begin` has 2 entries but `input` has rank 1",
    overflow: "Slice([1 2 3], i64[1] [1], i64[1] [9223372036854775807]) ! reach past the end",
}
