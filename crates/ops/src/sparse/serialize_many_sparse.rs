//! `SerializeManySparse`: serializes each row of a sparse tensor.

use super::batches::{inferred_rows, rows_of};
use super::entries::Entries;
use super::serialized::serialize;
use millstream_graph::op::spec::{AnyType, OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I64, Str, Variant};
use millstream_tensor::Result;

pub(crate) fn def() -> OpDef {
    OpDef::new("SerializeManySparse")
        .doc(
            "Serializes each row of a sparse tensor, which is a sparse tensor of lower rank, to three \
             elements: its indices, values and shape, each as an encoded `TensorProto`, or as a variant \
             that holds the tensor. DeserializeManySparse and DeserializeSparse reverse this.",
        )
        .input("sparse_indices", I64)
        .input("sparse_values", "T")
        .input("sparse_shape", I64)
        .output("serialized_sparse", "out_type")
        .attr("T", AnyType)
        .attr("out_type", OneOf(&[Str, Variant]).or(Str))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(100.0)))
        .gradient(Gradient::none("what is written as bytes has none, as in TensorFlow"))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let rows = inferred_rows(cx)?;
    cx.set(0, [rows, Some(3)]);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let rows = rows_of(&Entries::of(cx, 0)?)?;
    let serialized = serialize(&rows, cx.attrs().dtype("out_type")?, &[rows.len(), 3])?;
    cx.set(0, serialized);
    Ok(())
}

cases! {
    rows: "DeserializeManySparse(SerializeManySparse(i64 [[2 0] [0 1]], [6 5], i64 [3 2]); dtype=i32) = i64 [[0 1] [2 0]], [5 6], i64 [3 2]",
    variants: "DeserializeSparse(SerializeManySparse(i64 [[2 0] [0 1]], ['b' 'a'], i64 [3 2]; out_type=variant); dtype=str) = i64 [[0 1] [2 0]], ['a' 'b'], i64 [3 2]",
    no_rows: "SerializeManySparse(i64[0,2] [], f32[0] [], i64 [0 3]) = str[0,3] []",
    infers: "SerializeManySparse(i64[?,2], f32[?], i64 [4 3]) : str[4,3]",
    of_unknown_rows: "SerializeManySparse(i64[?,?], f32[?], i64[?]; out_type=variant) : variant[?,3]",
    has_rows: "SerializeManySparse(i64 [[0]], [5], i64[1] [3]) ! should be > 1, but saw rank: 1",
    inside: "SerializeManySparse(i64 [[4 0]], [5], i64 [4 3]) ! row 0 of `sparse_indices` is [4, 0]",
    not_too_many: "SerializeManySparse(i64[0,2] [], f32[0] [], i64 [4611686018427387904 3]) ! are too many",
}
