//! `Restore` and `RestoreSlice`: read one tensor from a checkpoint.

use super::checkpoint_args::{one_part, path, read, text};
use super::file_args::SLOW;
use millstream_checkpoint::Checkpoint;
use millstream_graph::op::spec::{AnyType, Int, Spec};
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str as S;
use millstream_tensor::{PartialShape, Result};

pub(crate) fn def() -> [OpDef; 2] {
    let common = |def: OpDef| {
        def.output("tensor", "dt")
            .attr("dt", AnyType)
            .attr("preferred_shard", Int.or(-1))
            .infer(infer)
            .kernel(Kernel::stateful(run).cost(SLOW))
    };
    [
        common(OpDef::new("Restore").input("file_pattern", S).input("tensor_name", S)).doc(
            "Reads the tensor `tensor_name` from the checkpoint `file_pattern`, a file of TensorFlow's first format, or \
             the prefix of one of the second. Unlike in TensorFlow, it must name one checkpoint.",
        ),
        common(OpDef::new("RestoreSlice").input("file_pattern", S).input("tensor_name", S).input("shape_and_slice", S)).doc(
            "Reads as `Restore` does. A `shape_and_slice` that is not empty selects a slice: `10 4 0,5:-` is rows 0 to 4 \
             of a tensor of shape `[10, 4]`.",
        ),
    ]
}

fn infer(cx: &mut InferCx) -> Result<()> {
    for i in 0..cx.n_inputs() {
        cx.scalar(i)?;
    }
    let slice =
        if cx.n_inputs() == 3 { cx.value(2).and_then(|t| t.as_strs()?.first().cloned()) } else { None };
    let shape = match slice.as_ref().map(|slice| one_part(&slice.text(), "a tensor")).transpose()?.flatten() {
        Some((whole, slice)) => slice.shape(&whole)?.into(),
        None => PartialShape::unknown(),
    };
    cx.set(0, shape);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.attrs().dtype("dt")?;
    let (path, name) = (path(cx, 0)?, text(cx, 1)?);
    let part = if cx.n_inputs() == 3 { one_part(text(cx, 2)?, name)? } else { None };
    let checkpoint = Checkpoint::open_in(&cx.files(), &path)?;
    let tensor = read(&checkpoint, &path, name, part.as_ref(), dtype)?;
    cx.set(0, tensor);
    Ok(())
}

cases! {
    infers: "Restore(str[], str[]; dt=f32) : f32[..]",
    infers_slices: "RestoreSlice(str[], str[], str[]; dt=i32) : i32[..]",
    infers_a_part: r#"RestoreSlice(str[], str[], "10 4 0,5:-"; dt=i32) : i32[5,4]"#,
    one_name: "Restore(str[], str[2]; dt=f32) ! must be rank 0 but is rank 1",
    is_there: r#"Restore("/nowhere/a", "x"; dt=f32) ! cannot read `/nowhere/a.index`"#,
    parts_are_parts: r#"RestoreSlice("a", "x", "4 5,1"; dt=f32) ! the extent 5,1 does not lie in a tensor of shape [4]"#,
}
