//! `ReduceJoin`: joins strings along axes.

use crate::shared::strings::strs;
use millstream_graph::op::spec::{Bool, Spec, Text};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, Str as S};
use millstream_tensor::{Code, Error, PartialShape, Result, Shape, Str, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("ReduceJoin")
        .doc(
            "Joins the strings along the axes `reduction_indices`, with `separator` between them: first \
             along the first of these axes, then the results along the next. Without axes, returns the \
             input unchanged.",
        )
        .input("inputs", S)
        .input("reduction_indices", I32)
        .on_host()
        .output("output", S)
        .attr("keep_dims", Bool.or(false))
        .attr("separator", Text.or(""))
        .infer(infer)
        // Places and parts.
        .kernel(Kernel::pure(run).scratch(40))
}

/// Returns an axis counted from the front.
fn place(axis: i64, rank: usize) -> Option<usize> {
    let place = if axis < 0 { axis.checked_add_unsigned(rank as u64) } else { Some(axis) };
    place.and_then(|a| usize::try_from(a).ok()).filter(|a| *a < rank)
}

/// Returns the axes counted from the front, or an error if one is listed twice.
fn axes(given: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut axes = Vec::with_capacity(given.len());
    for &axis in given {
        let place = place(axis, rank).ok_or_else(|| {
            // The class of error that TensorFlow gives, which is not that of other reductions.
            Error::new(
                Code::OutOfRange,
                format!("`reduction_indices` names axis {axis} but `inputs` has rank {rank}"),
            )
            .led_by(format!("Invalid reduction dimension {axis} for input with {rank} dimension(s)"))
        })?;
        ensure!(!axes.contains(&place), "Duplicate reduction dimension {place}"; "`reduction_indices` names axis {place} twice");
        axes.push(place);
    }
    Ok(axes)
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar_or_vector(1)?;
    let keep = cx.attrs().bool("keep_dims")?;
    let Some(dims) = cx.input(0).dims() else { return Ok(()) };
    let shape = match cx.ints(1) {
        Some(given) => {
            let rank = dims.len();
            // An axis that is listed twice is an error of the run, as in TensorFlow.
            let axes = given.iter().map(|&axis| {
                place(axis, rank).ok_or_else(|| {
                    invalid!(
                        "Invalid reduction dimension {axis} for input with {rank} dimensions.";
                        "`reduction_indices` names axis {axis} but `inputs` has rank {rank}"
                    )
                })
            });
            let axes = axes.collect::<Result<Vec<_>>>()?;
            let dims = dims.iter().enumerate().filter(|(i, _)| keep || !axes.contains(i));
            PartialShape::new(dims.map(|(i, d)| if axes.contains(&i) { Some(1) } else { *d }))
        }
        None if keep => PartialShape::unknown_of_rank(dims.len()),
        None => PartialShape::unknown(),
    };
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (keep, separator) = (cx.attrs().bool("keep_dims")?, cx.attrs().str("separator")?);
    ensure!(
        cx.input(1).rank() <= 1,
        "`reduction_indices` must be a scalar or a vector but has shape {}",
        cx.input(1).shape()
    );
    let input = cx.input(0).shape();
    let axes = axes(&cx.ints(1)?, input.rank())?;
    let strides = input.strides();
    let places = |axes: &[usize]| -> Vec<usize> {
        // The offsets of all elements along these axes, with the last axis varying fastest.
        axes.iter().fold(vec![0], |places, &a| {
            let (size, stride) = (input.dims()[a], strides[a]);
            places.iter().flat_map(|p| (0..size).map(move |i| p + i * stride)).collect()
        })
    };
    let kept: Vec<usize> = (0..input.rank()).filter(|a| !axes.contains(a)).collect();
    // The first axis listed is joined first, so it varies fastest.
    let along = places(&axes.iter().rev().copied().collect::<Vec<_>>());
    let shape = Shape::new(
        (0..input.rank())
            .filter(|a| keep || !axes.contains(a))
            .map(|a| if axes.contains(&a) { 1 } else { input.dims()[a] }),
    );
    let strings = strs(cx, 0)?;
    let joined = places(&kept).into_iter().map(|start| {
        let parts: Vec<&[u8]> = along.iter().filter_map(|p| strings.get(start + p)).map(|s| &**s).collect();
        Str::join(&parts, separator)
    });
    let result = Tensor::strings(shape, joined.collect::<Result<_>>()?)?;
    cx.set(0, result);
    Ok(())
}

cases! {
    rows: r#"ReduceJoin([["a" "b"] ["c" "d"]], [1]; separator=".") = ["a.b" "c.d"]"#,
    columns_kept: r#"ReduceJoin([["a" "b"] ["c" "d"]], 0; separator=".", keep_dims=true) = [["a.c" "b.d"]]"#,
    first_axis_first: r#"ReduceJoin([["a" "b"] ["c" "d"]], [0 1]; separator=".") = "a.c.b.d""#,
    last_axis_first: r#"ReduceJoin([["a" "b"] ["c" "d"]], [-1 0]; separator=".") = "a.b.c.d""#,
    no_axes: r#"ReduceJoin([["a" "b"]], i32[0] []) = [["a" "b"]]"#,
    nothing_joined_is_empty: r#"ReduceJoin(str[0,2] [], [0]) = ["" ""]"#,
    infers: "ReduceJoin(str[?,3,4], [1]) : str[?,4]",
    infers_without_axes: "ReduceJoin(str[?,3], i32[?]; keep_dims=true) : str[?,?]",
    axes_exist: r#"ReduceJoin(["a"], [1]) ! names axis 1 but `inputs` has rank 1"#,
    axes_differ: r#"ReduceJoin(["a"], [0 -1]) ! names axis 0 twice"#,
}
