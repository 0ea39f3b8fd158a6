//! `ParseSingleExample`: parses features of one `Example` message.

use super::features::{
    Dense, KINDS, Rows, check_counts, default, dense_shapes, only_row, only_sparse_row, sparse_shapes,
};
use crate::shared::messages::room_to_decode;
use crate::shared::strings::strs;
use millstream_graph::op::spec::{AtLeast, ShapeList, TextList, TypeList};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, NodeInfo, OpDef};
use millstream_proto::{Example, decode, weight};
use millstream_tensor::DType::{I64, Str};
use millstream_tensor::{Error, Result, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("ParseSingleExample")
        .doc(
            "Parses features of the `Example` message `serialized`. Sparse features, which have any number \
             of values, become sparse tensors of rank 1. Dense features have a fixed shape. A missing one \
             has its value in `dense_defaults`, or is an error if that has no elements. An unknown first \
             dimension is determined by the number of values.",
        )
        .input("serialized", Str)
        .input_list("dense_defaults", "Tdense")
        .outputs("sparse_indices", "num_sparse", I64)
        .output_list("sparse_values", "sparse_types")
        .outputs("sparse_shapes", "num_sparse", I64)
        .output_list("dense_values", "Tdense")
        .attr("num_sparse", AtLeast(0))
        .attr("sparse_keys", TextList)
        .attr("dense_keys", TextList)
        .attr("sparse_types", TypeList)
        .attr("Tdense", TypeList)
        .attr("dense_shapes", ShapeList)
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(1000.0)))
        .gradient(Gradient::none("what is read from bytes has none, as in TensorFlow"))
}

/// Returns the keys of the sparse and of the dense features.
fn keys(node: &NodeInfo) -> Result<[Vec<String>; 2]> {
    let attrs = &node.attrs;
    let texts =
        |name| Ok::<_, Error>(attrs.strs(name)?.iter().map(|s| s.text().into_owned()).collect::<Vec<_>>());
    let (sparse, dense) = (texts("sparse_keys")?, texts("dense_keys")?);
    let types = attrs.dtypes("sparse_types")?;
    let n_sparse = usize::try_from(attrs.int("num_sparse")?).unwrap_or(0);
    check_counts(
        node,
        &[("num_sparse", n_sparse), ("sparse_keys", sparse.len()), ("sparse_types", types.len())],
    )?;
    let (tdense, shapes) = (attrs.dtypes("Tdense")?.len(), attrs.shapes("dense_shapes")?.len());
    check_counts(node, &[("dense_keys", dense.len()), ("Tdense", tdense), ("dense_shapes", shapes)])?;
    for dtype in types {
        ensure!(
            KINDS.contains(&dtype),
            "a sparse feature cannot be {dtype}: features are f32, i64 or strings"
        );
    }
    Ok([sparse, dense])
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let [sparse, _] = keys(cx.node())?;
    cx.scalar(0)?;
    sparse_shapes(cx, 0, sparse.len(), 1);
    dense_shapes(cx, 3 * sparse.len(), "dense_shapes", &[])
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let [sparse, dense] = keys(cx.node)?;
    let [bytes] = strs(cx, 0)? else {
        return Err(invalid!("`serialized` must be a scalar but has shape {}", cx.input(0).shape()));
    };
    let row = |_| "the example".to_owned();
    let _room = room_to_decode(bytes, weight::<Example>)?;
    let example: Example =
        decode(bytes).map_err(|e| invalid!("Could not parse example input, value: '{}'", bytes.text(); "`serialized` is not an `Example` message: {e}"))?;
    let features = example.features.unwrap_or_default().feature;
    let mut outputs = Vec::new();
    for (i, (key, dtype)) in sparse.iter().zip(cx.attrs().dtypes("sparse_types")?).enumerate() {
        let parts = Rows { features: &[features.get(key)], row: &row }.sparse(key, dtype)?;
        let parts = only_sparse_row(parts)?.into_iter().enumerate();
        outputs.extend(parts.map(|(part, tensor)| (part * sparse.len() + i, tensor)));
    }
    let shapes = cx.attrs().shapes("dense_shapes")?;
    for (i, (key, dtype)) in dense.iter().zip(cx.attrs().dtypes("Tdense")?).enumerate() {
        let spec = Dense { key, dtype, shape: shapes[i], default: default(cx.input(1 + i)) };
        let value = Rows { features: &[features.get(key)], row: &row }.dense(&spec)?;
        outputs.push((3 * sparse.len() + i, only_row(value)?));
    }
    for (i, tensor) in outputs {
        cx.set(i, tensor);
    }
    Ok(())
}

cases! {
    takes_defaults: r#"ParseSingleExample("", [1.0 2.0]; num_sparse=1, sparse_keys={"a"}, dense_keys={"b"}, sparse_types={i64}, Tdense={f32}, dense_shapes={shape[2]})
        = i64[0,1] [], i64[0] [], i64[1] [0], f32[2] [1 2]"#,
    varies: r#"ParseSingleExample("\n\x10\n\x0e\n\x01b\x12\t\x1a\x07\n\x05\x01\x02\x03\x04\x05", i64 0; num_sparse=0, sparse_keys={}, dense_keys={"b"}, sparse_types={}, Tdense={i64}, dense_shapes={shape[?]})
        = i64[5] [1 2 3 4 5]"#,
    is_an_example: r#"ParseSingleExample("x"; num_sparse=1, sparse_keys={"b"}, dense_keys={}, sparse_types={f32}, Tdense={}, dense_shapes={}) ! `serialized` is not an `Example` message"#,
    of_its_type: r#"ParseSingleExample("\n\x10\n\x0e\n\x01b\x12\t\x1a\x07\n\x05\x01\x02\x03\x04\x05"; num_sparse=1, sparse_keys={"b"}, dense_keys={}, sparse_types={f32}, Tdense={}, dense_shapes={}) ! Key: b.  Data types don't match. Data type: int64 but expected type: float"#,
    infers: r#"ParseSingleExample(str[], f32[]; num_sparse=1, sparse_keys={"a"}, dense_keys={"b"}, sparse_types={i64}, Tdense={f32}, dense_shapes={shape[?,3]}) : i64[?,1], i64[?], i64[1], f32[?,3]"#,
}
