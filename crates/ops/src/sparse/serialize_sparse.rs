//! `SerializeSparse`: serializes a sparse tensor.

use super::entries::{Entries, inferred};
use super::serialized::serialize;
use millstream_graph::op::spec::{AnyType, OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I64, Str, Variant};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("SerializeSparse")
        .doc(
            "Serializes a sparse tensor to a vector of three elements: its indices, values and shape, each \
             as an encoded `TensorProto`, or as a variant that holds the tensor. DeserializeSparse reverses \
             this.",
        )
        .input("sparse_indices", I64)
        .input("sparse_values", "T")
        .input("sparse_shape", I64)
        .output("serialized_sparse", "out_type")
        .attr("T", AnyType)
        .attr("out_type", OneOf(&[Str, Variant]).or(Str))
        .infer(|cx| {
            inferred(cx, 0)?;
            cx.set(0, [3]);
            Ok(())
        })
        .kernel(Kernel::pure(run).cost(Cost::PerElement(10.0)))
        .gradient(Gradient::none("what is written as bytes has none, as in TensorFlow"))
}

fn run(cx: &mut KernelCx) -> Result<()> {
    Entries::of(cx, 0)?;
    let sparse = [0, 1, 2].map(|i| cx.input(i).clone());
    let serialized = serialize(&[sparse], cx.attrs().dtype("out_type")?, &[3])?;
    cx.set(0, serialized);
    Ok(())
}

cases! {
    numbers: r#"SerializeSparse(i64 [[1]], [1.5], i64[1] [3]) = ["\x08\t\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01\"\x08\x01\0\0\0\0\0\0\0" "\x08\x01\x12\x04\x12\x02\x08\x01\"\x04\0\0\xc0?" "\x08\t\x12\x04\x12\x02\x08\x01\"\x08\x03\0\0\0\0\0\0\0"]"#,
    strings: r#"DeserializeSparse(SerializeSparse(i64 [[0 1] [2 0]], ["ab" ""], i64 [3 3]); dtype=str) = i64 [[0 1] [2 0]], ["ab" ""], i64 [3 3]"#,
    variants: "DeserializeSparse(SerializeSparse(i64 [[0 1] [2 0]], [1 2], i64 [3 3]; out_type=variant); dtype=i32) = i64 [[0 1] [2 0]], [1 2], i64 [3 3]",
    infers: "SerializeSparse(i64[?,2], f32[?], i64[2]) : str[3]",
    infers_variants: "SerializeSparse(i64[?,2], f32[?], i64[2]; out_type=variant) : variant[3]",
    inside: "SerializeSparse(i64 [[0 3]], [5], i64 [3 3]) ! row 0 of `sparse_indices` is [0, 3]",
    a_value_for_each: "SerializeSparse(i64 [[0] [1]], [5], i64[1] [3]) ! but `sparse_values` has [1]",
    strings_or_variants: "SerializeSparse(i64[?,2], f32[?], i64[2]; out_type=i32) ! `out_type`",
}
