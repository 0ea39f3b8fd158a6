//! `UnsortedSegmentJoin`: joins the strings of segments.

use crate::shared::strings::strs;
use millstream_graph::op::spec::{IndexType, Spec, Text};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I32, Str as S};
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::{PartialShape, Result, Shape, Str, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("UnsortedSegmentJoin")
        .doc(
            "Joins the strings of each of `num_segments` segments in order, with `separator` between them. \
             The rows whose id is i belong to segment i.",
        )
        .input("inputs", S)
        .input("segment_ids", "Tindices")
        .input("num_segments", "Tnumsegments")
        .on_host()
        .output("output", S)
        .attr("separator", Text.or(""))
        .attr("Tindices", IndexType)
        .attr("Tnumsegments", IndexType.or(I32))
        .infer(infer)
        .kernel(Kernel::pure(run))
}

fn count(n: i64) -> Result<usize> {
    usize::try_from(n).map_err(|_| invalid!("`num_segments` is {n} but must not be negative"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(2)?;
    let n = cx.int(2).map(count).transpose()?;
    let (inputs, ids) = (cx.input(0), cx.input(1));
    if let (Some(dims), Some(id_dims)) = (inputs.dims(), ids.dims()) {
        let fits = id_dims.len() <= dims.len()
            && id_dims.iter().zip(dims).all(|(a, b)| a.is_none() || b.is_none() || a == b);
        ensure!(
            fits,
            "`inputs` has shape {inputs}, which does not start with the shape {ids} of `segment_ids`"
        );
        let row = dims[id_dims.len()..].iter().copied();
        cx.set(0, PartialShape::new([n].into_iter().chain(row)));
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    ensure!(cx.input(2).rank() == 0, "`num_segments` must be a scalar but has shape {}", cx.input(2).shape());
    let (separator, n) = (cx.attrs().str("separator")?, count(cx.int(2)?)?);
    let (shape, ids) = (cx.input(0).shape(), cx.input(1).shape());
    ensure!(
        shape.dims().starts_with(ids.dims()),
        "`inputs` has shape {shape}, which does not start with the shape {ids} of `segment_ids`"
    );
    let rest = &shape.dims()[ids.rank()..];
    let row: usize = rest.iter().product();
    let out = Shape::new([n].into_iter().chain(rest.iter().copied()));
    // This reports an excessive size before anything is joined.
    drop(Tensor::zeros(S, out.clone())?);
    let strings = strs(cx, 0)?;
    // A list for each output, and a slice for each input, in a list that doubles as it grows.
    let lists = out.elements().saturating_mul(size_of::<Vec<&[u8]>>() + 16);
    let _room = Room::of(lists.saturating_add(strings.len().saturating_mul(2 * size_of::<&[u8]>())))?;
    let mut parts: Vec<Vec<&[u8]>> = vec![Vec::new(); out.elements()];
    for (i, id) in cx.ints(1)?.into_iter().enumerate() {
        let segment = usize::try_from(id).ok().filter(|s| *s < n);
        let segment =
            segment.ok_or_else(|| invalid!("`segment_ids` has {id} at {i}, which is not in 0..{n}"))?;
        for (to, from) in parts[segment * row..].iter_mut().zip(&strings[i * row..(i + 1) * row]) {
            to.push(from);
        }
    }
    let mut joined = Charged::try_of(parts.iter().map(|parts| Str::join(parts, separator)))?;
    cx.set(0, Tensor::strings(out, joined.take())?);
    Ok(())
}

cases! {
    rows: r#"UnsortedSegmentJoin([["a" "b"] ["c" "d"] ["e" "f"]], [1 0 1], 3; separator="-") = [["c" "d"] ["a-e" "b-f"] ["" ""]]"#,
    elements: r#"UnsortedSegmentJoin([["a" "b"] ["c" "d"]], [[0 1] [1 0]], 2) = ["ad" "bc"]"#,
    infers: "UnsortedSegmentJoin(str[?,3], i32[5], 4) : str[4,3]",
    in_range: r#"UnsortedSegmentJoin(["a"], [2], 2) ! `segment_ids` has 2 at 0, which is not in 0..2"#,
    an_id_per_row: r#"UnsortedSegmentJoin(["a" "b"], [0], 2) ! does not start with the shape [1]"#,
}
