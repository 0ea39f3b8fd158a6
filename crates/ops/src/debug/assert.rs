//! `Assert`: fails unless a condition holds.

use super::excerpt::{Written, flat};
use millstream_graph::op::spec::{Int, Spec, TypesFrom1};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::{DType, Result, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("Assert")
        .doc(
            "Fails if `condition` is false, with the first `summarize` elements of each tensor in `data` in \
             the message.",
        )
        .input("condition", DType::Bool)
        .input_list("data", "T")
        .attr("T", TypesFrom1)
        .attr("summarize", Int.or(3))
        .infer(infer)
        .kernel(Kernel::stateful(run).undoable())
}

fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)
}

fn run(cx: &mut KernelCx) -> Result<()> {
    if cx.bool(0)? {
        return Ok(());
    }
    let most = cx.attrs().int("summarize")?;
    let mut data = Written::default();
    for (i, tensor) in cx.inputs().iter().skip(1).enumerate() {
        data.push_str(if i == 0 { "[" } else { " [" });
        flat(tensor, most, &mut data);
        data.push_str("]");
    }
    Err(invalid!("assertion failed: {}", data.text()?))
}

cases! {
    holds: "Assert(true, [1 2]) =",
    fails: "Assert(false, [1 2 3 4], \"why\") ! assertion failed: [1 2 3...] [why]",
    inner_axes: "Assert(false, f32[2,2] [[1.5 2] [3 4]]) ! assertion failed: [[1.5 2][3...]...]",
    shows_all: "Assert(false, [true false], [[1 2] [3 4]]; summarize=-1) ! assertion failed: [1 0] [[1 2][3 4]]",
    shows_few: "Assert(false, [[[0 1] [2 3]] [[4 5] [6 7]]]; summarize=1) ! assertion failed: [[[0...]]...]",
    wants_a_scalar: "Assert(bool[1], [1 2]) ! `condition` must be a scalar but has shape [1]",
    gives_nothing: "Assert(bool[..], f32[..]) :",
}
