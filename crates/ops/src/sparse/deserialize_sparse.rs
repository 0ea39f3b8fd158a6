//! `DeserializeSparse`, `DeserializeManySparse`: sparse tensors from their serialized parts.

use super::serialized::deserialize;
use crate::shared::sparse_batch::batch;
use millstream_graph::op::spec::{AnyType, OneOf, Spec};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, OpDef};
use millstream_tensor::DType::{I64, Str, Variant};
use millstream_tensor::{PartialShape, Result, ensure};

pub(crate) fn def() -> [OpDef; 2] {
    let many = OpDef::new("DeserializeManySparse")
        .doc(
            "Deserializes the rows of `serialized_sparse`, which SerializeManySparse wrote, and stacks the \
             sparse tensors along a new first axis. Each other axis has the size of the largest one. The \
             values must have dtype `dtype`.",
        )
        .input("serialized_sparse", Str)
        .infer(|cx| {
            let matrix = cx.with_rank(0, 2)?;
            infer(cx, &matrix)
        });
    let any = OpDef::new("DeserializeSparse")
        .doc(
            "Deserializes the last axis of `serialized_sparse`, which SerializeSparse wrote. If \
             `serialized_sparse` has other axes, the sparse tensors are stacked along them. Each axis of \
             the sparse tensors has the size of the largest one. The values must have dtype `dtype`.",
        )
        .input("serialized_sparse", "Tserialized")
        .attr("Tserialized", OneOf(&[Str, Variant]).or(Str))
        .infer(|cx| {
            let any = cx.input(0).clone();
            infer(cx, &any)
        });
    [many, any].map(|def| {
        def.output("sparse_indices", I64)
            .output("sparse_values", "dtype")
            .output("sparse_shape", I64)
            .attr("dtype", AnyType)
            .kernel(Kernel::pure(run).cost(Cost::PerElement(100.0)))
            .gradient(Gradient::none("what is read from bytes has none, as in TensorFlow"))
    })
}

fn infer(cx: &mut InferCx, serialized: &PartialShape) -> Result<()> {
    if let Some(dims) = serialized.dims() {
        ensure!(
            dims.last().is_some_and(|last| last.is_none_or(|n| n == 3)),
            "`serialized_sparse` must have 3 as its last dimension (indices, values, shape), but has shape {serialized}"
        );
    }
    cx.set(0, [None, None]);
    cx.set(1, [None]);
    cx.set(2, [None]);
    Ok(())
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let dtype = cx.attrs().dtype("dtype")?;
    let all = deserialize(cx, dtype)?;
    let dims = cx.input(0).shape().dims();
    let [indices, values, shape] = batch(dtype, &dims[..dims.len() - 1], &all)?;
    cx.set(0, indices);
    cx.set(1, values);
    cx.set(2, shape);
    Ok(())
}

cases! {
    one: "DeserializeSparse(SerializeSparse(i64 [[2 0]], [6], i64 [3 2]); dtype=i32) = i64 [[2 0]], [6], i64 [3 2]",
    as_long_as_the_longest: "a <- SerializeSparse(i64 [[1]], [0.5], i64[1] [2]) | b <- SerializeSparse(i64 [[4]], [1.5], i64[1] [7]) | \
        DeserializeSparse(Pack(b, a); dtype=f32) = i64 [[0 4] [1 1]], [1.5 0.5], i64 [2 7]",
    many: "a <- SerializeSparse(i64 [[1]], [0.5], i64[1] [2]) | b <- SerializeSparse(i64 [[4]], [1.5], i64[1] [7]) | \
        DeserializeManySparse(Pack(b, a); dtype=f32) = i64 [[0 4] [1 1]], [1.5 0.5], i64 [2 7]",
    along_two_axes: "a <- SerializeSparse(i64 [[1]], [5], i64[1] [2]) | b <- Pack(a, a, a) | \
        DeserializeSparse(Pack(b, b); dtype=i32) = i64 [[0 0 1] [0 1 1] [0 2 1] [1 0 1] [1 1 1] [1 2 1]], [5 5 5 5 5 5], i64 [2 3 2]",
    variants_too: "a <- SerializeSparse(i64 [[1]], [0.5], i64[1] [2]; out_type=variant) | DeserializeSparse(Pack(a, a); dtype=f32) = i64 [[0 1] [1 1]], [0.5 0.5], i64 [2 2]",
    infers: "DeserializeSparse(str[?,3]; dtype=f32) : i64[?,?], f32[?], i64[?]",
    of_unknown_shape: "DeserializeSparse(variant[..]; dtype=f32) : i64[?,?], f32[?], i64[?]",
    three_of_each: "DeserializeSparse(str[2]; dtype=f32) ! must have 3 as its last dimension",
    many_is_a_matrix: "DeserializeManySparse(str[3]; dtype=f32) ! `serialized_sparse`",
    one_at_least: "DeserializeManySparse(str[0,3] []; dtype=f32) ! holds no sparse tensor",
    is_a_message: r#"DeserializeSparse(["x" "y" "z"]; dtype=f32) ! it is not a serialized tensor"#,
    of_its_dtype: "DeserializeSparse(SerializeSparse(i64 [[2 0]], [6], i64 [3 2]); dtype=f32) ! a SparseTensor of f32 is requested but its values are i32",
    of_one_rank: "a <- SerializeSparse(i64 [[1]], [0.5], i64[1] [2]) | b <- SerializeSparse(i64 [[4 0]], [1.5], i64 [7 7]) | \
        DeserializeManySparse(Pack(a, b); dtype=f32) ! rank of SparseTensor[1] is: 2",
    holds_tensors: "DeserializeSparse(Pack(OptionalNone(), OptionalNone(), OptionalNone()); dtype=f32) ! it is a optional, not a tensor",
}
