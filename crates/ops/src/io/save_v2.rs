//! `SaveV2`: writes tensors to a checkpoint.

use super::checkpoint_args::{check_shapes, named, path};
use super::file_args::SLOW;
use millstream_checkpoint::{Item, write_in};
use millstream_graph::op::spec::TypesFrom1;
use millstream_graph::op::{Kernel, KernelCx, OpDef};
use millstream_tensor::DType::Str as S;
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("SaveV2")
        .doc(
            "Writes `tensors` under the names `tensor_names` to the checkpoint `prefix`, in the safetensors \
             format if the name ends in `.safetensors`, else in TensorFlow's V2 format. An entry of \
             `shape_and_slices` that is not empty means that the tensor is a slice of a larger one: \
             `10 4 0,5:-` is rows 0 to 4 of a tensor of shape `[10, 4]`.",
        )
        .input("prefix", S)
        .input("tensor_names", S)
        .input("shape_and_slices", S)
        .input_list("tensors", "dtypes")
        .attr("dtypes", TypesFrom1)
        .infer(|cx| check_shapes(cx, cx.n_inputs().saturating_sub(3)))
        .kernel(Kernel::stateful(run).cost(SLOW))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let tensors = cx.inputs().get(3..).unwrap_or_default();
    let named = named(cx, tensors.len())?;
    let items: Vec<Item> =
        named.into_iter().zip(tensors).map(|((name, part), tensor)| Item { name, part, tensor }).collect();
    write_in(&cx.files(), path(cx, 0)?, &items)
}

cases! {
    infers: "SaveV2(str[], str[2], str[?], f32[3], i32[..]) :",
    names_for_all: "SaveV2(str[], str[1], str[2], f32[3], i32[..]) ! `tensor_names` has shape [1] but the tensors are [2]",
    one_prefix: r#"SaveV2(["a" "b"], ["x"], [""], 1) ! `prefix` must be a scalar"#,
    no_empty_name: r#"SaveV2("a", [""], [""], 1) ! a name in `tensor_names` is empty"#,
    parts_are_parts: r#"SaveV2("a", ["x"], ["4 5,1"], 1) ! the extent 5,1 does not lie in a tensor of shape [4]"#,
}
