//! `OneHot`: a tensor with `on_value` at the given indices.

use crate::shared::axes::{joined, new_axis, product, scalar, size};
use crate::shared::gradient::sum_of_all;
use millstream_graph::op::spec::{AnyType, Int, OneOf, Spec};
use millstream_graph::op::{GradCx, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I8, I32, I64, U8};
use millstream_tensor::{Dim, Result, Tensor, ensure};

pub(crate) fn def() -> OpDef {
    OpDef::new("OneHot")
        .doc(
            "Returns one-hot tensors: a new axis of size `depth` holds `on_value` at the position given by \
             the index, and `off_value` elsewhere. An index out of range gives `off_value` at all \
             positions.",
        )
        .input("indices", "TI")
        .input("depth", I32)
        .on_host()
        .input("on_value", "T")
        .input("off_value", "T")
        .output("output", "T")
        .attr("axis", Int.or(-1i64))
        .attr("T", AnyType)
        .attr("TI", OneOf(&[U8, I8, I32, I64]).or(I64))
        .infer(infer)
        .kernel(Kernel::pure(run))
        .gradient(Gradient::of(grad))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let axis = cx.attrs().int("axis")?;
    ensure!(axis >= -1, "axis must be >= -1"; "`axis` is {axis}");
    (1..4).try_for_each(|i| cx.scalar(i))?;
    let unfit = |d| format!("Dimension size, given by scalar input 1, must be non-negative but is {d}");
    let depth: Dim = cx.int(1).map(|d| size("depth", d).map_err(|e| e.led_by(unfit(d)))).transpose()?;
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    // TensorFlow reports an axis out of range only in the run.
    let Ok(at) = new_axis("axis", axis, dims.len()) else { return Ok(()) };
    let (front, back) = dims.split_at(at);
    cx.set(0, joined(&[front, &[depth], back]));
    Ok(())
}

/// Returns the indices as i64.
fn wide(t: &Tensor) -> Result<Vec<i64>> {
    Ok(match t.dtype() {
        U8 => t.as_slice::<u8>()?.iter().map(|&v| v.into()).collect(),
        I8 => t.as_slice::<i8>()?.iter().map(|&v| v.into()).collect(),
        I32 => t.as_slice::<i32>()?.iter().map(|&v| v.into()).collect(),
        _ => t.as_slice::<i64>()?.to_vec(),
    })
}

fn run(cx: &mut KernelCx) -> Result<()> {
    for (i, what) in [(1, "depth"), (2, "on_value"), (3, "off_value")] {
        scalar(what, cx.input(i))?;
    }
    let depth = cx.int(1)?;
    let depth =
        size("depth", depth).map_err(|e| e.led_by(format!("depth must be non-negative, got: {depth}")))?;
    let mut shape = cx.input(0).shape().clone();
    let at = cx.attrs().int("axis")?;
    let at = new_axis("axis", at, shape.rank()).map_err(|e| {
        e.led_by(format!("Expected axis to be -1 or between [0, {}).  But received: {at}", shape.rank() + 1))
    })?;
    let inner = product(&shape[at..]);
    shape.dims_mut().insert(at, depth);
    let mut out = Tensor::fill(shape, cx.input(3))?;
    let on = wide(cx.input(0))?.into_iter().enumerate().filter_map(|(i, v)| {
        let place = usize::try_from(v).ok().filter(|&p| p < depth)?;
        Some((i / inner * depth + place) * inner + i % inner)
    });
    let on: Vec<usize> = on.collect();
    out.scatter_runs(1, &on, &Tensor::fill([on.len()], cx.input(2))?)?;
    cx.set(0, out);
    Ok(())
}

fn grad(cx: &mut GradCx) -> Result<()> {
    let dy = cx.grad(0);
    let (indices, depth) = (cx.input(0), cx.input(1));
    let (one, zero) = (cx.scalar(cx.dtype(2), 1.0), cx.scalar(cx.dtype(2), 0.0));
    for (i, on, off) in [(2, one, zero), (3, zero, one)] {
        if cx.wants(i) {
            let share =
                cx.op("OneHot").inputs([indices, depth, on, off]).attr("axis", cx.attrs().int("axis")?);
            cx.give(i, sum_of_all(cx, dy * share.output()));
        }
    }
    Ok(())
}

cases! {
    rows: "OneHot(i64 [1 0 3], 3, 1.0, 0.0) = [[0.0 1.0 0.0] [1.0 0.0 0.0] [0.0 0.0 0.0]]",
    of_a_scalar: "OneHot(1, 2, 5, 7) = [7 5]",
    negative_is_nowhere: "OneHot([-1 0], 2, true, false) = [[false false] [true false]]",
    axis_first: "OneHot([1 0 1], 2, 1, 0; axis=0) = [[0 1 0] [1 0 1]]",
    middle_axis: "OneHot([[0 1]], 2, 1, 0; axis=1) = [[[1 0] [0 1]]]",
    depth_of_zero: "OneHot([1], 0, 1, 0) = i32[1,0] []",
    bytes: "OneHot(u8[1] [1], 2, 'x', '') = [['' 'x']]",
    infers: "OneHot(i32[?,3], 5, f32[], f32[]; axis=1) : f32[?,5,3]",
    unknown_depth: "OneHot(i32[2], i32[], f32[], f32[]) : f32[2,?]",
    negative_depth: "OneHot([1], -1, 1, 0) ! `depth` is -1 but must not be negative",
    no_such_axis: "OneHot([1], 2, 1, 0; axis=2) ! `axis` is 2, which is not in -2..2",
}
