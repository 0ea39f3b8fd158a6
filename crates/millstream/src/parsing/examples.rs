//! `Example` and `SequenceExample` messages: their features, by name.

use super::features::{Feature, Parsed, Wanted, defaults, list};
use crate::options::{Options, Start};
use millstream_graph::{Arg, OpBuilder, Output};
use millstream_tensor::{Result, Tensor};
use std::collections::BTreeMap;
use std::panic::Location;

fn by_key<K: Into<String>>(features: impl IntoIterator<Item = (K, Feature)>) -> BTreeMap<String, Feature> {
    features.into_iter().map(|(key, feature)| (key.into(), feature)).collect()
}

fn key_inputs<'g>(node: OpBuilder<'g>, keys: Vec<String>) -> OpBuilder<'g> {
    node.inputs(keys.into_iter().map(Arg::from))
}

fn no_strings() -> Result<Tensor> {
    Tensor::strings([0], Vec::new())
}

/// Parses the features of many examples: `serialized` is a vector of `Example` messages.
///
/// ```
/// use millstream::parsing::{FixedLenFeature, VarLenFeature, parse_example};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let json = r#"{"features": {"feature": {"n": {"int64List": {"value": [4, 5]}}}}}"#;
/// let messages = g.parsing().decode_json_example(g.pack([json, "{}"]));
/// let n = VarLenFeature::new(DType::I64);
/// let x = FixedLenFeature::new([2], DType::F32).default_value(Tensor::vector(&[0f32, 1.0])?);
/// let features = [("n", n.into()), ("x", x.into())];
/// let parsed = parse_example(&g, messages, features)?;
/// let fetches = (parsed.sparse("n")?.indices, parsed.dense("x")?);
/// let (n, x): (Tensor, Tensor) = Session::new(&g)?.run(fetches, feed![])?;
/// assert_eq!(n.to_string(), "i64[2,2] [[0 0] [0 1]]");
/// assert_eq!(x.to_string(), "f32[2,2] [[0 1] [0 1]]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn parse_example<'g, K: Into<String>>(
    g: impl Start<'g>,
    serialized: impl Into<Arg<'g>>,
    features: impl IntoIterator<Item = (K, Feature)>,
) -> Result<Parsed<'g>> {
    named_example(g.options(), serialized.into(), no_strings()?.into(), by_key(features), Location::caller())
}

/// As [`parse_example`], with names of the examples for error messages.
///
/// ```
/// use millstream::parsing::{FixedLenFeature, parse_named_example};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let empty = g.fill([1], "");
/// let age = FixedLenFeature::new(shape![], DType::I64);
/// let parsed = parse_named_example(&g, empty, g.pack(["Ada"]), [("age", age.into())])?;
/// let error = Session::new(&g)?.run::<Tensor>(parsed.dense("age")?, feed![]).unwrap_err();
/// assert!(error.message().contains("Name: Ada, Feature: age (data type: int64) is required"), "{error}");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn parse_named_example<'g, K: Into<String>>(
    g: impl Start<'g>,
    serialized: impl Into<Arg<'g>>,
    names: impl Into<Arg<'g>>,
    features: impl IntoIterator<Item = (K, Feature)>,
) -> Result<Parsed<'g>> {
    named_example(g.options(), serialized.into(), names.into(), by_key(features), Location::caller())
}

/// The attributes of dtypes and shapes of the ops for examples.
const TYPES: [&str; 3] = ["sparse_types", "Tdense", "dense_shapes"];
const CONTEXT_TYPES: [&str; 3] = ["context_sparse_types", "Tcontext_dense", "context_dense_shapes"];
const LIST_TYPES: [&str; 3] =
    ["feature_list_sparse_types", "feature_list_dense_types", "feature_list_dense_shapes"];

fn named_example<'g>(
    options: Options<'g>,
    serialized: Arg<'g>,
    names: Arg<'g>,
    features: BTreeMap<String, Feature>,
    at: &'static Location<'static>,
) -> Result<Parsed<'g>> {
    let g = options.graph();
    let wanted = Wanted::of_examples(&features).map_err(|e| e.at_line(at))?;
    let op = g.name_scope(&options.name_or("ParseExample"), || {
        let defaults = defaults(g, &features, false)?;
        let (sparse, dense) = wanted.keys();
        let node = g.op("ParseExample").at(at).input(serialized).input(names);
        let node = key_inputs(key_inputs(node, sparse), dense).inputs(defaults);
        let node = node.attr("Nsparse", wanted.sparse.len() as i64).attr("Ndense", wanted.dense.len() as i64);
        wanted.types(node, TYPES).try_finish()
    })?;
    wanted.parsed(op, 0)
}

/// Parses the features of one example: `serialized` is an `Example` message, a scalar.
///
/// ```
/// use millstream::parsing::{VarLenFeature, parse_single_example};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let json = r#"{"features": {"feature": {"n": {"int64List": {"value": [4, 5]}}}}}"#;
/// let message = g.parsing().decode_json_example(json);
/// let parsed = parse_single_example(&g, message, [("n", VarLenFeature::new(DType::I64).into())])?;
/// let n: Vec<i64> = Session::new(&g)?.run(parsed.sparse("n")?.values, feed![])?;
/// assert_eq!(n, [4, 5]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn parse_single_example<'g, K: Into<String>>(
    g: impl Start<'g>,
    serialized: impl Into<Arg<'g>>,
    features: impl IntoIterator<Item = (K, Feature)>,
) -> Result<Parsed<'g>> {
    let (options, at, features) = (g.options(), Location::caller(), by_key(features));
    let g = options.graph();
    let wanted = Wanted::of_examples(&features).map_err(|e| e.at_line(at))?;
    let op = g.name_scope(&options.name_or("ParseSingleExample"), || {
        let defaults = defaults(g, &features, false)?;
        let (sparse, dense) = wanted.keys();
        let node = g.op("ParseSingleExample").at(at).input(serialized).inputs(defaults);
        let node = node.attr("num_sparse", wanted.sparse.len() as i64);
        let node = node.attr("sparse_keys", list(sparse)).attr("dense_keys", list(dense));
        wanted.types(node, TYPES).try_finish()
    })?;
    wanted.parsed(op, 0)
}

/// Parses the features of many sequences, those of their contexts and of their steps, with the number of
/// steps of each dense feature: `serialized` is a vector of `SequenceExample` messages. Dense features of
/// steps are padded with zeros (or empty strings) to the longest sequence.
///
/// ```
/// use millstream::parsing::{FixedLenFeature, FixedLenSequenceFeature, parse_sequence_example};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// // Two sequences without anything in them.
/// let id = FixedLenFeature::new(shape![], DType::I64).default_value(Tensor::scalar(-1i64));
/// let steps = FixedLenSequenceFeature::new([2], DType::F32).allow_missing();
/// let parsed = parse_sequence_example(&g, g.fill([2], ""), [("id", id.into())], [("xy", steps.into())])?;
/// let (context, steps, lengths) = parsed;
/// let fetches = (context.dense("id")?, steps.dense("xy")?);
/// let (id, xy): (Vec<i64>, Tensor) = Session::new(&g)?.run(fetches, feed![])?;
/// assert_eq!(id, [-1, -1]);
/// assert_eq!(xy.shape().dims(), [2, 0, 2]);
/// let lengths: Vec<i64> = Session::new(&g)?.run(lengths["xy"], feed![])?;
/// assert_eq!(lengths, [0, 0]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn parse_sequence_example<'g, K: Into<String>, L: Into<String>>(
    g: impl Start<'g>,
    serialized: impl Into<Arg<'g>>,
    context: impl IntoIterator<Item = (K, Feature)>,
    steps: impl IntoIterator<Item = (L, Feature)>,
) -> Result<Sequences<'g>> {
    let (names, at) = (no_strings()?.into(), Location::caller());
    named_sequences(g.options(), serialized.into(), names, by_key(context), by_key(steps), at)
}

/// As [`parse_sequence_example`], with names of the sequences for error messages.
///
/// ```
/// use millstream::parsing::{FixedLenFeature, VarLenFeature, parse_named_sequence_example};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let (id, words) = (FixedLenFeature::new(shape![], DType::I64), VarLenFeature::new(DType::Str));
/// let names = g.pack(["poem"]);
/// let (context, steps) = ([("id", id.into())], [("words", words.into())]);
/// let (context, ..) = parse_named_sequence_example(&g, g.fill([1], ""), names, context, steps)?;
/// let error = Session::new(&g)?.run::<Tensor>(context.dense("id")?, feed![]).unwrap_err();
/// assert!(error.message().contains("is not in the context of sequence 0 (\"poem\")"), "{error}");
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn parse_named_sequence_example<'g, K: Into<String>, L: Into<String>>(
    g: impl Start<'g>,
    serialized: impl Into<Arg<'g>>,
    names: impl Into<Arg<'g>>,
    context: impl IntoIterator<Item = (K, Feature)>,
    steps: impl IntoIterator<Item = (L, Feature)>,
) -> Result<Sequences<'g>> {
    let at = Location::caller();
    named_sequences(g.options(), serialized.into(), names.into(), by_key(context), by_key(steps), at)
}

/// The features of contexts, those of steps, and the number of steps of each dense feature.
pub type Sequences<'g> = (Parsed<'g>, Parsed<'g>, BTreeMap<String, Output<'g>>);

fn named_sequences<'g>(
    options: Options<'g>,
    serialized: Arg<'g>,
    names: Arg<'g>,
    context: BTreeMap<String, Feature>,
    steps: BTreeMap<String, Feature>,
    at: &'static Location<'static>,
) -> Result<Sequences<'g>> {
    let g = options.graph();
    let of_context = Wanted::of_examples(&context).map_err(|e| e.at_line(at))?;
    let of_steps = Wanted::of_steps(&steps).map_err(|e| e.at_line(at))?;
    let op = g.name_scope(&options.name_or("ParseSequenceExample"), || {
        let defaults = defaults(g, &context, true)?;
        let mut node = g.op("ParseSequenceExample").at(at).input(serialized).input(names).inputs(defaults);
        let assumed_empty = of_steps.missing_assumed_empty.iter().cloned();
        node = node.attr("feature_list_dense_missing_assumed_empty", list(assumed_empty));
        let (sparse, dense) = of_context.keys();
        node = node.attr("context_sparse_keys", list(sparse)).attr("context_dense_keys", list(dense));
        let (sparse, dense) = of_steps.keys();
        node =
            node.attr("feature_list_sparse_keys", list(sparse)).attr("feature_list_dense_keys", list(dense));
        node = sequence_types(node, &of_context, &of_steps);
        node.try_finish()
    })?;
    let n_context = of_context.n_outputs();
    let lengths = op.outputs().split_off(n_context + of_steps.n_outputs());
    let lengths = of_steps.dense.iter().map(|(key, ..)| key.clone()).zip(lengths).collect();
    Ok((of_context.parsed(op, 0)?, of_steps.parsed(op, n_context)?, lengths))
}

/// Parses the features of one sequence, those of its context and of its steps: `serialized` is a
/// `SequenceExample` message, a scalar.
///
/// ```
/// use millstream::parsing::{FixedLenSequenceFeature, VarLenFeature, parse_single_sequence_example};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// // A sequence of two steps, with 7 and 8 under the name `n`.
/// let message = "\x12\x15\n\x13\n\x01n\x12\x0e\n\x05\x1a\x03\n\x01\x07\n\x05\x1a\x03\n\x01\x08";
/// let context = [("words", VarLenFeature::new(DType::Str).into())];
/// let steps = [("n", FixedLenSequenceFeature::new(shape![], DType::I64).into())];
/// let (_, steps) = parse_single_sequence_example(&g, message, context, steps)?;
/// let n: Vec<i64> = Session::new(&g)?.run(steps.dense("n")?, feed![])?;
/// assert_eq!(n, [7, 8]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[track_caller]
pub fn parse_single_sequence_example<'g, K: Into<String>, L: Into<String>>(
    g: impl Start<'g>,
    serialized: impl Into<Arg<'g>>,
    context: impl IntoIterator<Item = (K, Feature)>,
    steps: impl IntoIterator<Item = (L, Feature)>,
) -> Result<(Parsed<'g>, Parsed<'g>)> {
    let (options, at) = (g.options(), Location::caller());
    let (context, steps) = (by_key(context), by_key(steps));
    let g = options.graph();
    let of_context = Wanted::of_examples(&context).map_err(|e| e.at_line(at))?;
    let of_steps = Wanted::of_steps(&steps).map_err(|e| e.at_line(at))?;
    let op = g.name_scope(&options.name_or("ParseSingleSequenceExample"), || {
        let defaults = defaults(g, &context, false)?;
        let assumed_empty = of_steps.missing_assumed_empty.clone();
        let assumed_empty = Tensor::strings([assumed_empty.len()], assumed_empty)?;
        let mut node = g.op("ParseSingleSequenceExample").at(at).input(serialized).input(assumed_empty);
        for wanted in [&of_context, &of_steps] {
            let (sparse, dense) = wanted.keys();
            node = key_inputs(key_inputs(node, sparse), dense);
        }
        sequence_types(node.inputs(defaults).input(""), &of_context, &of_steps).try_finish()
    })?;
    Ok((of_context.parsed(op, 0)?, of_steps.parsed(op, of_context.n_outputs())?))
}

/// Sets the attributes of an op for sequences: the numbers and types of features.
fn sequence_types<'g>(node: OpBuilder<'g>, context: &Wanted, steps: &Wanted) -> OpBuilder<'g> {
    let node = node
        .attr("Ncontext_sparse", context.sparse.len() as i64)
        .attr("Ncontext_dense", context.dense.len() as i64)
        .attr("Nfeature_list_sparse", steps.sparse.len() as i64)
        .attr("Nfeature_list_dense", steps.dense.len() as i64);
    steps.types(context.types(node, CONTEXT_TYPES), LIST_TYPES)
}
