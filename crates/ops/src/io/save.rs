//! `Save` and `SaveSlices`: write tensors to a checkpoint of TensorFlow's first format.

use super::checkpoint_args::{check_names, named, names, path};
use super::file_args::SLOW;
use millstream_checkpoint::{Item, write_old_in};
use millstream_graph::op::spec::TypesFrom1;
use millstream_graph::op::{InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str as S;
use millstream_tensor::Result;

pub(crate) fn def() -> [OpDef; 2] {
    let common = |def: OpDef| def.input_list("data", "T").attr("T", TypesFrom1);
    [
        common(OpDef::new("Save").input("filename", S).input("tensor_names", S))
            .doc(
                "Writes the tensors `data` under the names `tensor_names` to the file `filename`, in TensorFlow's first \
                 format of checkpoints, which is one file. `SaveV2` writes the second.",
            )
            .infer(|cx| infer(cx, 1))
            .kernel(Kernel::stateful(save).cost(SLOW)),
        common(OpDef::new("SaveSlices").input("filename", S).input("tensor_names", S).input("shapes_and_slices", S))
            .doc(
                "Writes as `Save` does. An entry of `shapes_and_slices` that is not empty means that the tensor is a slice \
                 of a larger one: `10 4 0,5:-` is rows 0 to 4 of a tensor of shape `[10, 4]`.",
            )
            .infer(|cx| infer(cx, 2))
            .kernel(Kernel::stateful(save_slices).cost(SLOW)),
    ]
}

fn infer(cx: &mut InferCx, vectors: usize) -> Result<()> {
    check_names(cx, vectors, cx.n_inputs().saturating_sub(1 + vectors))
}

fn save(cx: &mut KernelCx) -> Result<()> {
    let tensors = cx.inputs().get(2..).unwrap_or_default();
    let names = names(cx, tensors.len())?;
    let items: Vec<Item> =
        names.into_iter().zip(tensors).map(|(name, tensor)| Item { name, part: None, tensor }).collect();
    write_old_in(&cx.files(), path(cx, 0)?, &items)
}

fn save_slices(cx: &mut KernelCx) -> Result<()> {
    let tensors = cx.inputs().get(3..).unwrap_or_default();
    let named = named(cx, tensors.len())?;
    let items: Vec<Item> =
        named.into_iter().zip(tensors).map(|((name, part), tensor)| Item { name, part, tensor }).collect();
    write_old_in(&cx.files(), path(cx, 0)?, &items)
}

cases! {
    infers: "Save(str[], str[2], f32[3], i32[..]) :",
    infers_slices: "SaveSlices(str[], str[2], str[?], f32[3], i32[..]) :",
    names_for_all: "Save(str[], str[1], f32[3], i32[..]) ! `tensor_names` has shape [1] but the tensors are [2]",
    slices_for_all: "SaveSlices(str[], str[2], str[1], f32[3], i32[..]) ! `shapes_and_slices` has shape [1] but the tensors are [2]",
    one_file: r#"Save(["a" "b"], ["x"], 1) ! `filename` must be a scalar"#,
    no_empty_name: r#"Save("a", [""], 1) ! a name in `tensor_names` is empty"#,
    parts_are_parts: r#"SaveSlices("a", ["x"], ["4 5,1"], 1) ! the extent 5,1 does not lie in a tensor of shape [4]"#,
}
