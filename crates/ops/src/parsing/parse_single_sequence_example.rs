//! `ParseSingleSequenceExample`: parses features of one `SequenceExample` message: of its context and of its
//! steps.

use super::features::{
    Dense, Rows, check_counts, default, dense_shapes, key, only_row, only_sparse_row, sparse_shapes,
};
use crate::shared::messages::room_to_decode;
use crate::shared::strings::strs;
use millstream_graph::Attr;
use millstream_graph::op::spec::{AtLeast, ShapeList, Spec, TypeList};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, NodeInfo, OpDef};
use millstream_proto::{Feature, SequenceExample, decode, weight};
use millstream_tensor::DType::{I64, Str};
use millstream_tensor::{Result, Tensor, ensure, invalid};

pub(crate) fn def() -> OpDef {
    let none = || Attr::List(Vec::new());
    OpDef::new("ParseSingleSequenceExample")
        .doc(
            "Parses features of the `SequenceExample` message `serialized`: those of its context, as \
             ParseSingleExample does, and those of the steps in its feature lists, with an axis for the \
             steps in front. A missing dense feature list is an error unless \
             `feature_list_dense_missing_assumed_empty` lists it. `debug_name` is used in messages.",
        )
        .input("serialized", Str)
        .input("feature_list_dense_missing_assumed_empty", Str)
        .inputs("context_sparse_keys", "Ncontext_sparse", Str)
        .inputs("context_dense_keys", "Ncontext_dense", Str)
        .inputs("feature_list_sparse_keys", "Nfeature_list_sparse", Str)
        .inputs("feature_list_dense_keys", "Nfeature_list_dense", Str)
        .input_list("context_dense_defaults", "Tcontext_dense")
        .input("debug_name", Str)
        .outputs("context_sparse_indices", "Ncontext_sparse", I64)
        .output_list("context_sparse_values", "context_sparse_types")
        .outputs("context_sparse_shapes", "Ncontext_sparse", I64)
        .output_list("context_dense_values", "Tcontext_dense")
        .outputs("feature_list_sparse_indices", "Nfeature_list_sparse", I64)
        .output_list("feature_list_sparse_values", "feature_list_sparse_types")
        .outputs("feature_list_sparse_shapes", "Nfeature_list_sparse", I64)
        .output_list("feature_list_dense_values", "feature_list_dense_types")
        .attr("Ncontext_sparse", AtLeast(0).or(0))
        .attr("Ncontext_dense", AtLeast(0).or(0))
        .attr("Nfeature_list_sparse", AtLeast(0).or(0))
        .attr("Nfeature_list_dense", AtLeast(0).or(0))
        .attr("context_sparse_types", TypeList.or(none()))
        .attr("Tcontext_dense", TypeList.or(none()))
        .attr("feature_list_dense_types", TypeList.or(none()))
        .attr("context_dense_shapes", ShapeList.or(none()))
        .attr("feature_list_sparse_types", TypeList.or(none()))
        .attr("feature_list_dense_shapes", ShapeList.or(none()))
        .infer(infer)
        .kernel(Kernel::pure(run).cost(Cost::PerElement(1000.0)))
        .gradient(Gradient::none("what is read from bytes has none, as in TensorFlow"))
}

/// The number of features of each kind.
struct Counts {
    context_sparse: usize,
    context_dense: usize,
    list_sparse: usize,
}

impl Counts {
    fn of(node: &NodeInfo) -> Result<Counts> {
        let attrs = &node.attrs;
        let count =
            |keys: &'static str, types: &'static str, shapes: Option<&'static str>| -> Result<usize> {
                let n = node.input_range(keys)?.len();
                check_counts(node, &[(keys, n), (types, attrs.dtypes(types)?.len())])?;
                if let Some(shapes) = shapes {
                    check_counts(node, &[(keys, n), (shapes, attrs.shapes(shapes)?.len())])?;
                }
                Ok(n)
            };
        count("feature_list_dense_keys", "feature_list_dense_types", Some("feature_list_dense_shapes"))?;
        Ok(Counts {
            context_sparse: count("context_sparse_keys", "context_sparse_types", None)?,
            context_dense: count("context_dense_keys", "Tcontext_dense", Some("context_dense_shapes"))?,
            list_sparse: count("feature_list_sparse_keys", "feature_list_sparse_types", None)?,
        })
    }

    /// Returns the first output of each kind.
    fn places(&self) -> [usize; 4] {
        let context_dense = 3 * self.context_sparse;
        let list_sparse = context_dense + self.context_dense;
        [0, context_dense, list_sparse, list_sparse + 3 * self.list_sparse]
    }
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let counts = Counts::of(cx.node())?;
    let [context_sparse, context_dense, list_sparse, list_dense] = counts.places();
    cx.scalar(0)?;
    sparse_shapes(cx, context_sparse, counts.context_sparse, 1);
    dense_shapes(cx, context_dense, "context_dense_shapes", &[])?;
    sparse_shapes(cx, list_sparse, counts.list_sparse, 2);
    dense_shapes(cx, list_dense, "feature_list_dense_shapes", &[None])
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let counts = Counts::of(cx.node)?;
    let one = |i: usize| match strs(cx, i)? {
        [one] => Ok(one),
        _ => Err(invalid!("`{}` must be a scalar but has shape {}", cx.name_of(i), cx.input(i).shape())),
    };
    let debug_name = one(cx.node.input_range("debug_name")?.start)?;
    let whole =
        if debug_name.is_empty() { "the sequence".into() } else { format!("sequence {debug_name:?}") };
    let bytes = one(0)?;
    let _room = room_to_decode(bytes, weight::<SequenceExample>)?;
    let sequence: SequenceExample =
        decode(bytes).map_err(|e| invalid!("Could not parse example input, value: '{}'", bytes.text(); "{whole} is not a `SequenceExample` message: {e}"))?;
    let assumed_empty = strs(cx, 1)?;
    let context = sequence.context.unwrap_or_default().feature;
    let lists = sequence.feature_lists.unwrap_or_default().feature_list;
    let of_context = |_| format!("the context of {whole}");
    let of_step = |i| format!("step {i} of {whole}");
    let keys_of =
        |name: &str| -> Result<Vec<&str>> { cx.node.input_range(name)?.map(|i| key(one(i)?)).collect() };
    let steps = |key: &str| -> Vec<Option<&Feature>> {
        lists.get(key).map_or_else(Vec::new, |list| list.feature.iter().map(Some).collect())
    };
    let attrs = cx.attrs();
    let [context_sparse, context_dense, list_sparse, list_dense] = counts.places();
    let mut outputs: Vec<(usize, Tensor)> = Vec::new();
    for (i, (key, dtype)) in
        keys_of("context_sparse_keys")?.into_iter().zip(attrs.dtypes("context_sparse_types")?).enumerate()
    {
        let parts = Rows { features: &[context.get(key)], row: &of_context }.sparse(key, dtype)?;
        let parts = only_sparse_row(parts)?.into_iter().enumerate();
        outputs.extend(parts.map(|(p, tensor)| (context_sparse + p * counts.context_sparse + i, tensor)));
    }
    let (shapes, defaults) =
        (attrs.shapes("context_dense_shapes")?, cx.node.input_range("context_dense_defaults")?);
    for (i, (key, dtype)) in
        keys_of("context_dense_keys")?.into_iter().zip(attrs.dtypes("Tcontext_dense")?).enumerate()
    {
        let spec = Dense { key, dtype, shape: shapes[i], default: default(cx.input(defaults.start + i)) };
        ensure!(
            spec.default.is_some() || context.contains_key(key),
            "Name: {}, Context feature '{key}' is required but could not be found.", debug_name.text();
            "`{key}` is not in the context of {whole}, and `context_dense_defaults` has no value for it"
        );
        let value = Rows { features: &[context.get(key)], row: &of_context }.dense(&spec)?;
        outputs.push((context_dense + i, only_row(value)?));
    }
    for (i, (key, dtype)) in keys_of("feature_list_sparse_keys")?
        .into_iter()
        .zip(attrs.dtypes("feature_list_sparse_types")?)
        .enumerate()
    {
        let parts = Rows { features: &steps(key), row: &of_step }.sparse(key, dtype)?.into_iter().enumerate();
        outputs.extend(parts.map(|(p, tensor)| (list_sparse + p * counts.list_sparse + i, tensor)));
    }
    let shapes = attrs.shapes("feature_list_dense_shapes")?;
    for (i, (key, dtype)) in keys_of("feature_list_dense_keys")?
        .into_iter()
        .zip(attrs.dtypes("feature_list_dense_types")?)
        .enumerate()
    {
        let may_be_missing = assumed_empty.iter().any(|name| name[..] == *key.as_bytes());
        ensure!(
            may_be_missing || lists.contains_key(key),
            "Name: {}, Feature list '{key}' is required but could not be found.  Did you mean to include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
            debug_name.text();
            "`{key}` is not in {whole}"
        );
        let spec = Dense { key, dtype, shape: shapes[i], default: None };
        outputs.push((list_dense + i, Rows { features: &steps(key), row: &of_step }.dense(&spec)?));
    }
    for (i, tensor) in outputs {
        cx.set(i, tensor);
    }
    Ok(())
}

cases! {
    nothing_there: r#"ParseSingleSequenceExample("", ["l"], "a", "b", "s", "l", [1.0 2.0], "x"; Ncontext_sparse=1, Ncontext_dense=1, Nfeature_list_sparse=1, Nfeature_list_dense=1,
        context_sparse_types={i64}, Tcontext_dense={f32}, feature_list_dense_types={i64}, context_dense_shapes={shape[2]}, feature_list_sparse_types={str}, feature_list_dense_shapes={shape[3]})
        = i64[0,1] [], i64[0] [], i64[1] [0], f32[2] [1 2], i64[0,2] [], str[0] [], i64[2] [0 0], i64[0,3] []"#,
    not_missing: r#"ParseSingleSequenceExample("", str[0] [], "l", "x"; Ncontext_sparse=0, Ncontext_dense=0, Nfeature_list_sparse=0, Nfeature_list_dense=1, Tcontext_dense={}, feature_list_dense_types={i64}, feature_list_dense_shapes={shape[]})
        ! Feature list 'l' is required but could not be found."#,
    is_a_sequence: r#"ParseSingleSequenceExample("x", str[0] [], ""; Ncontext_sparse=0, Ncontext_dense=0, Nfeature_list_sparse=0, Nfeature_list_dense=0, Tcontext_dense={}) ! the sequence is not a `SequenceExample` message"#,
    infers: r#"ParseSingleSequenceExample(str[], str[?], str[], str[], str[], str[], f32[2], str[]; Ncontext_sparse=1, Ncontext_dense=1, Nfeature_list_sparse=1, Nfeature_list_dense=1,
        context_sparse_types={i64}, Tcontext_dense={f32}, feature_list_dense_types={i64}, context_dense_shapes={shape[2]}, feature_list_sparse_types={str}, feature_list_dense_shapes={shape[3]})
        : i64[?,1], i64[?], i64[1], f32[2], i64[?,2], str[?], i64[2], i64[?,3]"#,
}
