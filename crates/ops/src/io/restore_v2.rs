//! `RestoreV2`: reads tensors from a checkpoint.

use super::checkpoint_args::{check_shapes, named, path, read};
use super::file_args::SLOW;
use millstream_checkpoint::Checkpoint;
use millstream_graph::op::spec::TypesFrom1;
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str as S;
use millstream_tensor::pace::look;
use millstream_tensor::{PartialShape, Result, Tensor};

pub(crate) fn def() -> OpDef {
    OpDef::new("RestoreV2")
        .doc(
            "Reads the tensors `tensor_names` from the checkpoint `prefix`, which is a safetensors file if \
             the name ends in `.safetensors`. An entry of `shape_and_slices` that is not empty selects a \
             slice: `10 4 0,5:-` is rows 0 to 4 of a tensor of shape `[10, 4]`.",
        )
        .input("prefix", S)
        .input("tensor_names", S)
        .input("shape_and_slices", S)
        .output_list("tensors", "dtypes")
        .attr("dtypes", TypesFrom1)
        .infer(infer)
        .kernel(Kernel::stateful(run).cost(SLOW))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    check_shapes(cx, cx.n_outputs())?;
    for i in 0..cx.n_outputs() {
        cx.set(i, PartialShape::unknown());
    }
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtypes = cx.attrs().dtypes("dtypes")?;
    let named = named(cx, dtypes.len())?;
    let path = path(cx, 0)?;
    let checkpoint = Checkpoint::open_in(&cx.files(), &path)?;
    let mut tensors: Vec<Tensor> = Vec::new();
    for ((name, part), dtype) in named.into_iter().zip(dtypes) {
        look()?;
        tensors.push(read(&checkpoint, &path, name, part.as_ref(), dtype)?);
    }
    for (i, tensor) in tensors.into_iter().enumerate() {
        cx.set(i, tensor);
    }
    Ok(())
}

cases! {
    infers: "RestoreV2(str[], str[2], str[2]; dtypes={f32, i32}) : f32[..], i32[..]",
    names_for_all: "RestoreV2(str[], str[1], str[2]; dtypes={f32, i32}) ! `tensor_names` has shape [1] but the tensors are [2]",
    parts_for_all: r#"RestoreV2("a", ["x"], str[0] []; dtypes={f32}) ! `shape_and_slices` has shape [0]"#,
    no_empty_name: r#"RestoreV2("a", [""], [""]; dtypes={f32}) ! a name in `tensor_names` is empty"#,
    is_there: r#"RestoreV2("/nowhere/a", ["x"], [""]; dtypes={f32}) ! cannot read `/nowhere/a.index`"#,
}
