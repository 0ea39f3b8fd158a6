//! `ParseTensor`: parses a serialized tensor.

use crate::shared::messages::room_to_decode;
use millstream_checkpoint::message;
use millstream_graph::op::spec::AnyType;
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_proto::{TensorProto, decode, weight};
use millstream_tensor::DType::Str;
use millstream_tensor::{Result, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("ParseTensor")
        .doc(
            "Parses the encoded `TensorProto` in `serialized`, which SerializeTensor wrote, to a tensor of \
             dtype `out_type` and any shape.",
        )
        .input("serialized", Str)
        .output("output", "out_type")
        .attr("out_type", AnyType)
        .infer(|cx| cx.scalar(0))
        .kernel(Kernel::pure(run).cost(Cost::PerElement(10_000.0)))
        .gradient(Gradient::none("what is read from bytes has none, as in TensorFlow"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let wanted = cx.attrs().dtype("out_type")?;
    let (Some([bytes]), 0) = (cx.input(0).as_strs(), cx.input(0).rank()) else {
        return Err(invalid!("`serialized` must be a scalar string but has shape {}", cx.input(0).shape()));
    };
    let _room = room_to_decode(bytes, weight::<TensorProto>)?;
    let held: TensorProto = decode(bytes).map_err(
        |e| invalid!("Cannot parse tensor from proto: "; "`serialized` is not a `TensorProto`: {e}"),
    )?;
    let tensor = message::decode(&held, &mut |_, _| Ok(()));
    let tensor = tensor.map_err(
        |e| invalid!("Cannot parse tensor from proto: "; "`serialized` holds no tensor: {}", e.message()),
    )?;
    ensure!(
        tensor.dtype() == wanted,
        "Type mismatch between parsed tensor ({}) and dtype ({})", tensor.dtype().kernel_name(), wanted.kernel_name();
        "`serialized` holds a tensor of {}, but `out_type` is {wanted}",
        tensor.dtype()
    );
    cx.set(0, tensor);
    Ok(())
}

cases! {
    what_was_written: "ParseTensor(SerializeTensor(f64 [[1 2] [3 4]]); out_type=f64) = f64 [[1 2] [3 4]]",
    strings: r#"ParseTensor(SerializeTensor(["a" "" "bc"]); out_type=str) = ["a" "" "bc"]"#,
    nothing: "ParseTensor(SerializeTensor(i32[0,3] []); out_type=i32) = i32[0,3] []",
    a_short_list_goes_on: r#"ParseTensor("\x08\x03\x12\x04\x12\x02\x08\x03:\x02\x01\x05"; out_type=i32) = [1 5 5]"#,
    an_empty_one_is_zeros: r#"ParseTensor("\x08\x01\x12\x04\x12\x02\x08\x02"; out_type=f32) = f32[2] [0 0]"#,
    infers: "ParseTensor(str[]; out_type=i64) : i64[..]",
    one: "ParseTensor(str[2]; out_type=i64) ! `serialized`",
    is_a_message: r#"ParseTensor("xyz"; out_type=f32) ! `serialized` is not a `TensorProto`"#,
    of_its_dtype: "ParseTensor(SerializeTensor(1.5); out_type=i32) ! holds a tensor of f32, but `out_type` is i32",
    whole: r#"ParseTensor("\x08\x01\x12\x04\x12\x02\x08\x03\"\x04abcd"; out_type=f32) ! needs 12 bytes of `tensor_content`, which has 4"#,
    has_a_dtype: r#"ParseTensor(""; out_type=f32) ! `serialized` holds no tensor: 0 is not a known dtype number"#,
    not_too_large: r#"ParseTensor("\x08\x07\x12\x0c\x12\n\x08\x80\x80\x80\x80\x80\x80\x80\x80\x20"; out_type=str) ! `serialized` holds no tensor"#,
}
