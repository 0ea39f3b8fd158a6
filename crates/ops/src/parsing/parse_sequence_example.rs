//! `ParseSequenceExample`: parses features of several `SequenceExample` messages: of their contexts and of
//! their steps.

use super::features::{Dense, Rows, check_counts, default, dense_shapes, sparse_shapes};
use crate::shared::messages::room_to_decode;
use crate::shared::sparse_batch::batch;
use crate::shared::strings::strs;
use millstream_graph::op::spec::{AtLeast, ShapeList, Spec, TextList, TypeList};
use millstream_graph::op::{Cost, Gradient, InferCx, Kernel, KernelCx, NodeInfo, OpDef};
use millstream_graph::{Attr, Attrs};
use millstream_proto::{Feature, FeatureList, SequenceExample, decode, weight};
use millstream_tensor::DType::{I64, Str};
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::look;
use millstream_tensor::{Assembler, Result, Shape, Tensor, ensure, invalid};
use std::collections::BTreeMap;

pub(crate) fn def() -> OpDef {
    let none = || Attr::List(Vec::new());
    OpDef::new("ParseSequenceExample")
        .doc(
            "Parses features of the `SequenceExample` messages in `serialized`: those of their contexts, as \
             ParseExample does, and those of the steps in their feature lists, with axes for the sequences \
             and the steps in front. Dense feature lists are padded with zeros or empty strings to the \
             longest; `feature_list_dense_lengths` has the number of steps of each. A missing list is an \
             error unless `feature_list_dense_missing_assumed_empty` lists it. `debug_name` is used in \
             messages.",
        )
        .input("serialized", Str)
        .input("debug_name", Str)
        .input_list("context_dense_defaults", "Tcontext_dense")
        .outputs("context_sparse_indices", "Ncontext_sparse", I64)
        .output_list("context_sparse_values", "context_sparse_types")
        .outputs("context_sparse_shapes", "Ncontext_sparse", I64)
        .output_list("context_dense_values", "Tcontext_dense")
        .outputs("feature_list_sparse_indices", "Nfeature_list_sparse", I64)
        .output_list("feature_list_sparse_values", "feature_list_sparse_types")
        .outputs("feature_list_sparse_shapes", "Nfeature_list_sparse", I64)
        .output_list("feature_list_dense_values", "feature_list_dense_types")
        .outputs("feature_list_dense_lengths", "Nfeature_list_dense", I64)
        .attr("feature_list_dense_missing_assumed_empty", TextList)
        .attr("context_sparse_keys", TextList)
        .attr("context_dense_keys", TextList)
        .attr("feature_list_sparse_keys", TextList)
        .attr("feature_list_dense_keys", TextList)
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
        .kernel(Kernel::pure(run).scratch(64).cost(Cost::PerElement(1000.0)))
        .gradient(Gradient::none("what is read from bytes has none, as in TensorFlow"))
}

/// The keys of the features of each kind.
struct Keys {
    context_sparse: Vec<String>,
    context_dense: Vec<String>,
    list_sparse: Vec<String>,
    list_dense: Vec<String>,
}

impl Keys {
    fn of(node: &NodeInfo) -> Result<Keys> {
        let attrs = &node.attrs;
        let keys = |n: &'static str, keys: &'static str, types: &'static str| -> Result<Vec<String>> {
            let all: Vec<String> = attrs.strs(keys)?.iter().map(|s| s.text().into_owned()).collect();
            let n_said = usize::try_from(attrs.int(n)?).unwrap_or(0);
            check_counts(node, &[(n, n_said), (keys, all.len()), (types, attrs.dtypes(types)?.len())])?;
            Ok(all)
        };
        let all = Keys {
            context_sparse: keys("Ncontext_sparse", "context_sparse_keys", "context_sparse_types")?,
            context_dense: keys("Ncontext_dense", "context_dense_keys", "Tcontext_dense")?,
            list_sparse: keys(
                "Nfeature_list_sparse",
                "feature_list_sparse_keys",
                "feature_list_sparse_types",
            )?,
            list_dense: keys("Nfeature_list_dense", "feature_list_dense_keys", "feature_list_dense_types")?,
        };
        for (name, keys, n) in [
            ("context_dense_shapes", "context_dense_keys", all.context_dense.len()),
            ("feature_list_dense_shapes", "feature_list_dense_keys", all.list_dense.len()),
        ] {
            check_counts(node, &[(keys, n), (name, attrs.shapes(name)?.len())])?;
        }
        Ok(all)
    }

    /// Returns the first output of each kind, and that of the lengths.
    fn places(&self) -> [usize; 5] {
        let context_dense = 3 * self.context_sparse.len();
        let list_sparse = context_dense + self.context_dense.len();
        let list_dense = list_sparse + 3 * self.list_sparse.len();
        [0, context_dense, list_sparse, list_dense, list_dense + self.list_dense.len()]
    }
}

fn infer(cx: &mut InferCx) -> Result<()> {
    let keys = Keys::of(cx.node())?;
    let [context_sparse, context_dense, list_sparse, list_dense, lengths] = keys.places();
    let n = cx.vector(0)?;
    cx.vector(1)?;
    sparse_shapes(cx, context_sparse, keys.context_sparse.len(), 2);
    dense_shapes(cx, context_dense, "context_dense_shapes", &[n])?;
    sparse_shapes(cx, list_sparse, keys.list_sparse.len(), 3);
    dense_shapes(cx, list_dense, "feature_list_dense_shapes", &[n, None])?;
    (0..keys.list_dense.len()).for_each(|i| cx.set(lengths + i, [n]));
    Ok(())
}

/// The context and the steps of a message.
struct Sequence {
    context: BTreeMap<String, Feature>,
    lists: BTreeMap<String, FeatureList>,
}

impl Sequence {
    fn steps(&self, key: &str) -> Vec<Option<&Feature>> {
        self.lists.get(key).map_or_else(Vec::new, |list| list.feature.iter().map(Some).collect())
    }
}

/// The messages of a run, with what is asked of them.
struct Batch<'a> {
    sequences: Vec<Sequence>,
    /// The memory of the sequences.
    rooms: Charged<Room>,
    names: &'a [millstream_tensor::Str],
    attrs: &'a Attrs,
}

/// Outputs with their positions.
type Outputs = Vec<(usize, Tensor)>;

impl<'a> Batch<'a> {
    fn read(cx: &'a KernelCx) -> Result<Batch<'a>> {
        let (serialized, names) = (strs(cx, 0)?, strs(cx, 1)?);
        ensure!(
            names.is_empty() || names.len() == serialized.len(),
            "there are {} `debug_name`s for {} sequences: give one each or none",
            names.len(),
            serialized.len()
        );
        let mut batch = Batch {
            sequences: Vec::with_capacity(serialized.len()),
            rooms: Charged::new(),
            names,
            attrs: cx.attrs(),
        };
        for (i, bytes) in serialized.iter().enumerate() {
            look()?;
            batch.rooms.push(room_to_decode(bytes, weight::<SequenceExample>)?)?;
            let message: SequenceExample = decode(bytes)
                .map_err(|e| invalid!("Could not parse example input, value: '{}'", bytes.text(); "{} is not a `SequenceExample` message: {e}", batch.whole(i)))?;
            batch.sequences.push(Sequence {
                context: message.context.unwrap_or_default().feature,
                lists: message.feature_lists.unwrap_or_default().feature_list,
            });
        }
        Ok(batch)
    }

    /// Returns the name of a sequence in messages.
    fn whole(&self, i: usize) -> String {
        match self.names.get(i) {
            Some(name) => format!("sequence {i} ({name:?})"),
            None => format!("sequence {i}"),
        }
    }

    /// Calls `f` with the rows of a feature of the contexts.
    fn context<R>(&self, key: &str, f: impl FnOnce(Rows) -> R) -> R {
        let features: Vec<_> = self.sequences.iter().map(|s| s.context.get(key)).collect();
        f(Rows { features: &features, row: &|i| format!("the context of {}", self.whole(i)) })
    }

    /// Calls `f` with the rows of a feature list of each sequence, and with the sequence.
    fn lists<R>(&self, key: &str, f: impl Fn(Rows, usize, &Sequence) -> Result<R>) -> Result<Vec<R>> {
        let one = |(n, sequence): (usize, &Sequence)| {
            let row = |step: usize| format!("step {step} of {}", self.whole(n));
            f(Rows { features: &sequence.steps(key), row: &row }, n, sequence)
        };
        self.sequences.iter().enumerate().map(one).collect()
    }

    fn context_sparse(&self, keys: &[String], first: usize) -> Result<Outputs> {
        let mut outputs = Vec::new();
        for (i, (key, dtype)) in keys.iter().zip(self.attrs.dtypes("context_sparse_types")?).enumerate() {
            let parts = self.context(key, |rows| rows.sparse(key, dtype))?;
            outputs.extend(parts.into_iter().enumerate().map(|(p, t)| (first + p * keys.len() + i, t)));
        }
        Ok(outputs)
    }

    fn context_dense(&self, defaults: &[Tensor], keys: &[String], first: usize) -> Result<Outputs> {
        let shapes = self.attrs.shapes("context_dense_shapes")?;
        let all = keys.iter().zip(self.attrs.dtypes("Tcontext_dense")?).enumerate();
        all.map(|(i, (key, dtype))| {
            let spec = Dense { key, dtype, shape: shapes[i], default: default(&defaults[i]) };
            Ok((first + i, self.context(key, |rows| rows.dense(&spec))?))
        })
        .collect()
    }

    fn list_sparse(&self, keys: &[String], first: usize) -> Result<Outputs> {
        let mut outputs = Vec::new();
        for (i, (key, dtype)) in keys.iter().zip(self.attrs.dtypes("feature_list_sparse_types")?).enumerate()
        {
            let each = self.lists(key, |rows, _, _| rows.sparse(key, dtype))?;
            let parts = match each.is_empty() {
                true => [Tensor::zeros(I64, [0, 3])?, Tensor::zeros(dtype, [0])?, Tensor::zeros(I64, [3])?],
                false => batch(dtype, &[each.len()], &each)?,
            };
            outputs.extend(parts.into_iter().enumerate().map(|(p, t)| (first + p * keys.len() + i, t)));
        }
        Ok(outputs)
    }

    fn list_dense(&self, keys: &[String], first: usize, lengths: usize) -> Result<Outputs> {
        let assumed_empty = self.attrs.strs("feature_list_dense_missing_assumed_empty")?;
        let shapes = self.attrs.shapes("feature_list_dense_shapes")?;
        let mut outputs = Vec::new();
        for (i, (key, dtype)) in keys.iter().zip(self.attrs.dtypes("feature_list_dense_types")?).enumerate() {
            let may_be_missing = assumed_empty.iter().any(|name| name[..] == *key.as_bytes());
            let each = self.lists(key, |rows, n, sequence| {
                ensure!(
                    may_be_missing || sequence.lists.contains_key(key),
                    "Feature list '{key}' is required but could not be found.  Did you mean to include it in \
             feature_list_dense_missing_assumed_empty or feature_list_dense_defaults? It is not in {}",
                    self.whole(n)
                );
                rows.dense(&Dense { key, dtype, shape: shapes[i], default: None })
            })?;
            let inner = shapes[i].full().ok_or_else(|| {
                invalid!("the shape of feature list `{key}` is {}: that of a step must be known", shapes[i])
            })?;
            outputs.push((first + i, padded(dtype, &inner, &each)?));
            let steps = each.iter().map(|t| t.shape()[0] as i64);
            outputs.push((lengths + i, Tensor::from_iter([each.len()], steps)?));
        }
        Ok(outputs)
    }
}

fn run(cx: &mut KernelCx) -> Result<()> {
    let keys = Keys::of(cx.node)?;
    let [context_sparse, context_dense, list_sparse, list_dense, lengths] = keys.places();
    let all = Batch::read(cx)?;
    let outputs = [
        all.context_sparse(&keys.context_sparse, context_sparse)?,
        all.context_dense(&cx.inputs()[2..], &keys.context_dense, context_dense)?,
        all.list_sparse(&keys.list_sparse, list_sparse)?,
        all.list_dense(&keys.list_dense, list_dense, lengths)?,
    ];
    outputs.into_iter().flatten().for_each(|(i, output)| cx.set(i, output));
    Ok(())
}

/// Stacks tensors with different numbers of rows, padded to the longest.
fn padded(dtype: millstream_tensor::DType, inner: &Shape, each: &[Tensor]) -> Result<Tensor> {
    let longest = each.iter().map(|t| t.shape()[0]).max().unwrap_or(0);
    let whole = Shape::new([each.len(), longest].into_iter().chain(inner.dims().iter().copied()));
    let per_sequence = longest.saturating_mul(inner.elements());
    let nothing = Tensor::zeros(dtype, Shape::default())?;
    let mut out = Assembler::new(dtype, whole)?;
    for t in each {
        out.push(t, 0, t.elements())?;
        out.push_fill(&nothing, per_sequence - t.elements())?;
    }
    out.finish()
}

cases! {
    nothing_there: r#"ParseSequenceExample(["" ""], str[0] [], [1.0 2.0]; feature_list_dense_missing_assumed_empty={"l"}, context_sparse_keys={"a"}, context_dense_keys={"b"}, feature_list_sparse_keys={"s"}, feature_list_dense_keys={"l"},
        Ncontext_sparse=1, Ncontext_dense=1, Nfeature_list_sparse=1, Nfeature_list_dense=1,
        context_sparse_types={i64}, Tcontext_dense={f32}, feature_list_dense_types={i64}, context_dense_shapes={shape[2]}, feature_list_sparse_types={str}, feature_list_dense_shapes={shape[3]})
        = i64[0,2] [], i64[0] [], i64[2] [2 0], f32[2,2] [[1 2] [1 2]], i64[0,3] [], str[0] [], i64[3] [2 0 0], i64[2,0,3] [], i64[2] [0 0]"#,
    filled_up: r#"ParseSequenceExample(["\x12\x15\n\x13\n\x01n\x12\x0e\n\x05\x1a\x03\n\x01\x07\n\x05\x1a\x03\n\x01\x08" ""], str[0] []; feature_list_dense_missing_assumed_empty={"n"}, context_sparse_keys={}, context_dense_keys={},
        feature_list_sparse_keys={"n"}, feature_list_dense_keys={"n"}, Nfeature_list_sparse=1, Nfeature_list_dense=1, Tcontext_dense={}, feature_list_sparse_types={i64}, feature_list_dense_types={i64}, feature_list_dense_shapes={shape[]})
        = i64[2,3] [[0 0 0] [0 1 0]], i64[2] [7 8], i64[3] [2 2 1], i64[2,2] [[7 8] [0 0]], i64[2] [2 0]"#,
    no_sequences: r#"ParseSequenceExample(str[0] [], str[0] []; feature_list_dense_missing_assumed_empty={}, context_sparse_keys={}, context_dense_keys={}, feature_list_sparse_keys={"s"}, feature_list_dense_keys={"n"},
        Nfeature_list_sparse=1, Nfeature_list_dense=1, Tcontext_dense={}, feature_list_sparse_types={str}, feature_list_dense_types={f32}, feature_list_dense_shapes={shape[2]})
        = i64[0,3] [], str[0] [], i64[3] [0 0 0], f32[0,0,2] [], i64[0] []"#,
    not_missing: r#"ParseSequenceExample([""], ["x"]; feature_list_dense_missing_assumed_empty={}, context_sparse_keys={}, context_dense_keys={}, feature_list_sparse_keys={}, feature_list_dense_keys={"l"}, Nfeature_list_dense=1, Tcontext_dense={}, feature_list_dense_types={i64}, feature_list_dense_shapes={shape[]})
        ! It is not in sequence 0 ("x")"#,
    is_a_sequence: r#"ParseSequenceExample(["x"], str[0] []; feature_list_dense_missing_assumed_empty={}, context_sparse_keys={}, context_dense_keys={}, feature_list_sparse_keys={}, feature_list_dense_keys={}, Tcontext_dense={}) ! sequence 0 is not a `SequenceExample` message"#,
    a_name_for_each: r#"ParseSequenceExample(["" ""], ["x"]; feature_list_dense_missing_assumed_empty={}, context_sparse_keys={}, context_dense_keys={}, feature_list_sparse_keys={}, feature_list_dense_keys={}, Tcontext_dense={}) ! there are 1 `debug_name`s for 2 sequences"#,
    types_for_all: r#"ParseSequenceExample(str[2], str[0]; feature_list_dense_missing_assumed_empty={}, context_sparse_keys={"a"}, context_dense_keys={}, feature_list_sparse_keys={}, feature_list_dense_keys={}, Ncontext_sparse=1, Tcontext_dense={}) ! `context_sparse_types`"#,
    infers: r#"ParseSequenceExample(str[4], str[?], f32[2]; feature_list_dense_missing_assumed_empty={}, context_sparse_keys={"a"}, context_dense_keys={"b"}, feature_list_sparse_keys={"s"}, feature_list_dense_keys={"l"},
        Ncontext_sparse=1, Ncontext_dense=1, Nfeature_list_sparse=1, Nfeature_list_dense=1,
        context_sparse_types={i64}, Tcontext_dense={f32}, feature_list_dense_types={i64}, context_dense_shapes={shape[2]}, feature_list_sparse_types={str}, feature_list_dense_shapes={shape[3]})
        : i64[?,2], i64[?], i64[2], f32[4,2], i64[?,3], str[?], i64[3], i64[4,?,3], i64[4]"#,
}
