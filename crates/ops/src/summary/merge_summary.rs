//! `MergeSummary`: merges summaries.

use super::message::{give, parse};
use millstream_graph::op::spec::AtLeast;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, ensure};
use std::collections::HashSet;

pub(crate) fn def() -> OpDef {
    OpDef::new("MergeSummary")
        .doc(
            "Returns a summary with all values of the summaries in `inputs`. A tag that occurs twice is an \
             error.",
        )
        .inputs("inputs", "N", DType::Str)
        .output("summary", DType::Str)
        .attr("N", AtLeast(1))
        .infer(|cx| cx.scalars())
        .kernel(Kernel::pure(run))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (mut values, mut tags, mut rooms) = (Vec::new(), HashSet::new(), Vec::new());
    for input in cx.inputs() {
        for summary in input.as_strs().unwrap_or_default() {
            let (summary, room) = parse(summary)?;
            rooms.push(room);
            for value in summary.value {
                // A value without a tag has the name of a node.
                let new = value.tag.is_empty() || tags.insert(value.tag.clone());
                ensure!(new, "Duplicate tag {} found in summary inputs", value.tag);
                values.push(value);
            }
        }
    }
    give(cx, values)
}

cases! {
    two: r#"MergeSummary(ScalarSummary("a", f32 1), ScalarSummary("b", f32 2)) = "\n\x08\n\x01a\x15\0\0\x80?\n\x08\n\x01b\x15\0\0\0@""#,
    any_shape: r#"MergeSummary(["" "\n\x05\x15\0\0\x80?"]) = "\n\x05\x15\0\0\x80?""#,
    is_a_scalar: "MergeSummary(str[..]) : str[]",
    tags_differ: r#"MergeSummary(ScalarSummary("a", f32 1), ScalarSummary("a", f32 2)) ! Duplicate tag a found in summary inputs"#,
    no_summary: r#"MergeSummary("xyz") ! Could not parse one of the summary inputs"#,
    at_least_one: "MergeSummary() ! `N`",
}
