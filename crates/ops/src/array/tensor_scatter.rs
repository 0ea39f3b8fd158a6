//! `TensorScatterUpdate`, `..Add`, `..Sub`, `..Min`, `..Max`, and `ScatterNdNonAliasingAdd`: copies of a
//! tensor with slices changed at index tuples.

use crate::number::{Num, Real, no_kernel};
use crate::shared::places::{Places, parts, policy, same_policy, skips, updates_fit, updates_may_fit};
use millstream_graph::op::spec::{AnyType, IndexType};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef, RunFn};
use millstream_tensor::{DType, Element, Result, Str, Tensor, ensure, invalid, with_element};

pub(crate) fn def() -> [OpDef; 6] {
    let named = |name, input, doc, run: RunFn| {
        let def = OpDef::new(name)
            .doc(doc)
            .input(input, "T")
            .input("indices", "Tindices")
            .input("updates", "T")
            .output("output", "T")
            .attr("T", AnyType)
            .attr("Tindices", IndexType);
        policy(def).infer(infer).kernel(Kernel::pure(run))
    };
    let op = |name, doc, run: RunFn| named(name, "tensor", doc, run);
    [
        op(
            "TensorScatterUpdate",
            "Returns a copy of `tensor` in which `updates` replace the slices at the index tuples in the \
             last axis of `indices`. If an index occurs more than once, the last update wins.",
            |cx| run(cx, Combine::Replace),
        )
        .gradient(Gradient::of(grad_of_update)),
        op("TensorScatterAdd", "Returns a copy of `tensor` with `updates` added at `indices`.", |cx| {
            run(cx, Combine::Add)
        })
        .gradient(Gradient::of(|cx| grad_of_sum(cx, false))),
        op("TensorScatterSub", "Returns a copy of `tensor` with `updates` subtracted at `indices`.", |cx| {
            run(cx, Combine::Sub)
        })
        .gradient(Gradient::of(|cx| grad_of_sum(cx, true))),
        op(
            "TensorScatterMin",
            "Returns a copy of `tensor` with the elementwise minimum of its slices at `indices` and \
             `updates`.",
            |cx| run(cx, Combine::Min),
        )
        .gradient(Gradient::of(grad_of_extreme)),
        op(
            "TensorScatterMax",
            "Returns a copy of `tensor` with the elementwise maximum of its slices at `indices` and \
             `updates`.",
            |cx| run(cx, Combine::Max),
        )
        .gradient(Gradient::of(grad_of_extreme)),
        named(
            "ScatterNdNonAliasingAdd",
            "input",
            "Returns a copy of `input` with `updates` added at `indices`.",
            |cx| run(cx, Combine::Add),
        )
        .gradient(Gradient::of(|cx| grad_of_sum(cx, false))),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.at_least_rank(0, 1)?;
    let what = if cx.name_of(0) == "input" { "input" } else { "output" };
    updates_may_fit(cx, what, 1, 2, cx.input(0))?;
    cx.same_as_input()
}

fn run(cx: &mut KernelCx, how: Combine) -> Result<()> {
    let rows = updates_fit(cx.input(1), cx.input(2), cx.input(0).shape())?;
    let mut out = cx.take(0);
    if cx.input(2).elements() > 0 {
        let places = Places::new(cx.input(1), out.shape(), rows, skips(cx.attrs())?)?;
        combine(&mut out, how, &places, &places.kept(cx.input(2))?)?;
    }
    cx.set(0, out);
    Ok(())
}

/// The operation that combines an element with its update.
#[derive(Clone, Copy)]
pub(super) enum Combine {
    Replace,
    Add,
    Sub,
    Min,
    Max,
}

/// Combines the slices of `out` with those of `updates`, in order. Adding bools is a logical or; adding
/// strings concatenates them.
pub(super) fn combine(out: &mut Tensor, how: Combine, places: &Places, updates: &Tensor) -> Result<()> {
    let dtype = out.dtype();
    match how {
        Combine::Replace => out.scatter_runs(places.run, &places.starts, updates),
        Combine::Add if dtype == DType::Str => append(out, places, updates),
        Combine::Add if dtype == DType::Bool => each::<bool>(out, places, updates, |a, b| a | b),
        Combine::Add => {
            with_element!(dtype, T in numbers => each::<T>(out, places, updates, Num::add), else => Err(no_kernel("TensorScatterAdd", dtype)))
        }
        Combine::Sub => {
            with_element!(dtype, T in numbers => each::<T>(out, places, updates, Num::sub), else => Err(no_kernel("TensorScatterSub", dtype)))
        }
        Combine::Min => {
            with_element!(dtype, T in reals => each::<T>(out, places, updates, |a, b| Real::min(b, a)), else => Err(no_kernel("TensorScatterMin", dtype)))
        }
        Combine::Max => {
            with_element!(dtype, T in reals => each::<T>(out, places, updates, |a, b| Real::max(b, a)), else => Err(no_kernel("TensorScatterMax", dtype)))
        }
    }
}

fn each<T: Element>(out: &mut Tensor, places: &Places, updates: &Tensor, f: fn(T, T) -> T) -> Result<()> {
    let updates = updates.as_slice::<T>()?;
    let cells = out.make_mut_or_copy::<T>()?;
    for (&start, part) in places.starts.iter().zip(updates.chunks_exact(places.run.max(1))) {
        let to = cells.get_mut(start..start + places.run).ok_or_else(out_of_place)?;
        to.iter_mut().zip(part).for_each(|(a, &b)| *a = f(*a, b));
    }
    Ok(())
}

fn append(out: &mut Tensor, places: &Places, updates: &Tensor) -> Result<()> {
    let mut cells: Vec<Str> = out.as_strs().map(<[Str]>::to_vec).unwrap_or_default();
    let updates = updates.as_strs().unwrap_or_default();
    ensure!(updates.len() == places.run * places.starts.len(), "a part for each row is needed");
    for (&start, part) in places.starts.iter().zip(updates.chunks_exact(places.run.max(1))) {
        let to = cells.get_mut(start..start + places.run).ok_or_else(out_of_place)?;
        for (a, b) in to.iter_mut().zip(part) {
            *a = Str::join(&[a, b], b"")?;
        }
    }
    *out = Tensor::strings(out.shape().clone(), cells)?;
    Ok(())
}

fn out_of_place() -> millstream_tensor::Error {
    invalid!("an index is outside the tensor")
}

// The updates get the gradient of the replaced slices; the tensor gets zero there.
fn grad_of_update(cx: &mut GradCx) -> Result<()> {
    let (dy, indices) = (cx.grad(0), cx.input(1));
    if cx.wants(0) {
        let zeros = cx.zeros_like_input(2);
        let dx = cx.op("TensorScatterUpdate").inputs([dy, indices, zeros]);
        cx.give(0, same_policy(cx, dx)?.output());
    }
    if cx.wants(2) {
        cx.give(2, parts(cx, dy, indices)?);
    }
    Ok(())
}

fn grad_of_sum(cx: &mut GradCx, subtracted: bool) -> Result<()> {
    let dy = cx.grad(0);
    cx.give(0, dy);
    if cx.wants(2) {
        let indices = cx.input(1);
        let updates = parts(cx, dy, indices)?;
        cx.give(2, if subtracted { -updates } else { updates });
    }
    Ok(())
}

// An element and all the updates that equal the result share its gradient equally.
fn grad_of_extreme(cx: &mut GradCx) -> Result<()> {
    let (dy, indices) = (cx.grad(0), cx.input(1));
    let (x, updates, y) = (cx.input(0), cx.input(2), cx.output(0));
    let dtype = cx.dtype(0);
    let [own, theirs] = [(x, y), (updates, parts(cx, y, indices)?)].map(|(a, b)| {
        let equal = cx.call("Equal", [a, b]);
        cx.op("Cast").input(equal).attr("DstT", dtype).output()
    });
    let count = same_policy(cx, cx.op("TensorScatterAdd").inputs([own, indices, theirs]))?.output();
    let share = dy / count;
    cx.give(0, share * own);
    if cx.wants(2) {
        cx.give(2, parts(cx, share, indices)? * theirs);
    }
    Ok(())
}

cases! {
    replaces: "TensorScatterUpdate([1 2 3], [[1]], [7]) = [1 7 3]",
    last_one_stays: "TensorScatterUpdate([1 2 3], [[1] [1]], [7 8]) = [1 8 3]",
    replaces_rows: "TensorScatterUpdate([[1 2] [3 4]], i64 [[1]], [[7 8]]) = [[1 2] [7 8]]",
    replaces_strings: "TensorScatterUpdate(['a' 'b'], [[1]], ['c']) = ['a' 'c']",
    replaces_all: "TensorScatterUpdate([1 2], i32[1,0] [], [[7 8]]) = [7 8]",
    adds: "TensorScatterAdd([1.0 2.0], [[1] [1]], [0.5 0.25]) = [1.0 2.75]",
    adds_wrapping: "TensorScatterAdd([2147483647], [[0]], [1]) = [-2147483648]",
    subtracts: "TensorScatterSub([[1 2] [3 4]], [[0 1]], [5]) = [[1 -3] [3 4]]",
    lesser: "TensorScatterMin([1 5], [[0] [1]], [2 3]) = [1 3]",
    greater: "TensorScatterMax([1 5], [[0] [1]], [2 3]) = [2 5]",
    bad_ones_left_out: "TensorScatterMax([1 2], [[2] [1]], [5 6]; bad_indices_policy=\"IGNORE\") = [1 6]",
    adds_without_alias: "ScatterNdNonAliasingAdd([1 2 3], [[0] [2] [0]], [10 20 30]) = [41 2 23]",
    infers: "TensorScatterAdd(f32[?,3], i32[2,1], f32[2,3]) : f32[?,3]",
    out_of_range: "TensorScatterAdd([1 2], [[2]], [1]) ! row 0 of `indices` is [2]",
    updates_differ: "TensorScatterUpdate([1 2], [[0]], [1 2]) ! `updates` has shape [2] but must have [1]",
    updates_differ_early: "TensorScatterUpdate(f32[2,3], i32[?,1], f32[?,4]) ! `updates` has shape [?,4] but must have [?,3]",
    too_deep: "TensorScatterUpdate([1 2], [[0 0]], [1]) ! the last axis of `indices` has size 2",
}
