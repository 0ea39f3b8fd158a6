//! `ParseExample`: parses features of several `Example` messages.

use super::features::{Dense, KINDS, Rows, check_counts, default, dense_shapes, key, sparse_shapes};
use crate::shared::messages::room_to_decode;
use crate::shared::strings::strs;
use millstream_graph::op::spec::{AtLeast, ShapeList, TypeList};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, NodeInfo, OpDef};
use millstream_proto::{Example, Feature, decode, weight};
use millstream_tensor::DType::{I64, Str};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::look;
use millstream_tensor::{Result, ensure, invalid};

pub(crate) fn def() -> OpDef {
    OpDef::new("ParseExample")
        .doc(
            "Parses features of the `Example` messages in `serialized`. Sparse features, which have any \
             number of values in an example, become sparse tensors with a row for each example. Dense \
             features have a fixed shape in each example. A missing dense feature has its value in \
             `dense_defaults`, or is an error if that has no elements. If the first dimension of a dense \
             feature is unknown, it has the size of the longest example, and shorter ones are padded with \
             the default. `names` are used in messages.",
        )
        .input("serialized", Str)
        .input("names", Str)
        .inputs("sparse_keys", "Nsparse", Str)
        .inputs("dense_keys", "Ndense", Str)
        .input_list("dense_defaults", "Tdense")
        .outputs("sparse_indices", "Nsparse", I64)
        .output_list("sparse_values", "sparse_types")
        .outputs("sparse_shapes", "Nsparse", I64)
        .output_list("dense_values", "Tdense")
        .attr("Nsparse", AtLeast(0))
        .attr("Ndense", AtLeast(0))
        .attr("sparse_types", TypeList)
        .attr("Tdense", TypeList)
        .attr("dense_shapes", ShapeList)
        .infer(infer)
        .kernel(Kernel::pure(run).scratch(64).cost(Cost::PerElement(1000.0)))
        .gradient(Gradient::none("what is read from bytes has none, as in TensorFlow"))
}

/// Returns the numbers of sparse and dense features.
fn counts(node: &NodeInfo) -> Result<(usize, usize)> {
    let (sparse, dense) = (node.input_range("sparse_keys")?.len(), node.input_range("dense_keys")?.len());
    let attrs = &node.attrs;
    let types = attrs.dtypes("sparse_types")?;
    check_counts(node, &[("sparse_keys", sparse), ("sparse_types", types.len())])?;
    let (tdense, shapes) = (attrs.dtypes("Tdense")?.len(), attrs.shapes("dense_shapes")?.len());
    check_counts(node, &[("dense_keys", dense), ("Tdense", tdense), ("dense_shapes", shapes)])?;
    for dtype in types {
        ensure!(
            KINDS.contains(&dtype),
            "a sparse feature cannot be {dtype}: features are f32, i64 or strings"
        );
    }
    Ok((sparse, dense))
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let (sparse, _) = counts(cx.node())?;
    let rows = cx.vector(0)?;
    cx.vector(1)?;
    sparse_shapes(cx, 0, sparse, 2);
    dense_shapes(cx, 3 * sparse, "dense_shapes", &[rows])
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let (n_sparse, n_dense) = counts(cx.node)?;
    let (serialized, names) = (strs(cx, 0)?, strs(cx, 1)?);
    ensure!(
        names.is_empty() || names.len() == serialized.len(),
        "Expected len(names) == len(serialized), but got: {} vs. {}", names.len(), serialized.len();
        "there are {} `names` for {} examples: give one each or none",
        names.len(),
        serialized.len()
    );
    let row = |i: usize| match names.get(i) {
        Some(name) => format!("example {i} ({name:?})"),
        None => format!("example {i}"),
    };
    let (mut examples, mut rooms) = (Vec::with_capacity(serialized.len()), Charged::new());
    for (i, bytes) in serialized.iter().enumerate() {
        look()?;
        rooms.push(room_to_decode(bytes, weight::<Example>)?)?;
        let example: Example =
            decode(bytes).map_err(|e| invalid!("Could not parse example input, value: '{}'", bytes.text(); "{} is not an `Example` message: {e}", row(i)))?;
        examples.push(example.features.unwrap_or_default().feature);
    }
    let find = |key: &str| -> Vec<Option<&Feature>> { examples.iter().map(|e| e.get(key)).collect() };
    let key_at = |i: usize| match strs(cx, i)? {
        [one] => key(one),
        _ => Err(invalid!("`{}` must be scalars, but one has shape {}", cx.name_of(i), cx.input(i).shape())),
    };
    let mut outputs = Vec::new();
    for (i, dtype) in cx.attrs().dtypes("sparse_types")?.into_iter().enumerate() {
        let key = key_at(2 + i)?;
        look()?;
        let parts = Rows { features: &find(key), row: &row }.sparse(key, dtype)?;
        outputs.extend(parts.into_iter().enumerate().map(|(part, tensor)| (part * n_sparse + i, tensor)));
    }
    let shapes = cx.attrs().shapes("dense_shapes")?;
    for (i, dtype) in cx.attrs().dtypes("Tdense")?.into_iter().enumerate() {
        let key = key_at(2 + n_sparse + i)?;
        let default = default(cx.input(2 + n_sparse + n_dense + i));
        look()?;
        let spec = Dense { key, dtype, shape: shapes[i], default };
        outputs.push((3 * n_sparse + i, Rows { features: &find(key), row: &row }.dense(&spec)?));
    }
    for (i, tensor) in outputs {
        cx.set(i, tensor);
    }
    Ok(())
}

cases! {
    takes_defaults: r#"ParseExample(["" ""], str[0] [], "a", "b", [1.0 2.0]; Nsparse=1, Ndense=1, sparse_types={i64}, Tdense={f32}, dense_shapes={shape[2]})
        = i64[0,2] [], i64[0] [], i64[2] [2 0], f32[2,2] [[1 2] [1 2]]"#,
    reads_values: r#"ParseExample(["\n\x10\n\x0e\n\x01b\x12\t\x1a\x07\n\x05\x01\x02\x03\x04\x05"], str[0] [], "b"; Nsparse=1, Ndense=0, sparse_types={i64}, Tdense={}, dense_shapes={})
        = i64[5,2] [[0 0] [0 1] [0 2] [0 3] [0 4]], i64[5] [1 2 3 4 5], i64[2] [1 5]"#,
    no_default: r#"ParseExample(["" ""], ["x" "y"], "b", f32[0] []; Nsparse=0, Ndense=1, sparse_types={}, Tdense={f32}, dense_shapes={shape[2]}) ! Name: x, Feature: b (data type: float) is required but could not be found. It is not in example 0 ("x"), and has no default"#,
    is_an_example: r#"ParseExample(["x"], str[0] [], "b"; Nsparse=1, Ndense=0, sparse_types={f32}, Tdense={}, dense_shapes={}) ! example 0 is not an `Example` message"#,
    infers: "ParseExample(str[?], str[?], str[], str[], f32[]; Nsparse=1, Ndense=1, sparse_types={i64}, Tdense={f32}, dense_shapes={shape[?,3]}) : i64[?,2], i64[?], i64[2], f32[?,?,3]",
    types_for_all: r#"ParseExample(str[2], str[0], str[]; Nsparse=1, Ndense=0, sparse_types={}, Tdense={}, dense_shapes={}) ! 1 `sparse_keys` but 0 `sparse_types`"#,
}
