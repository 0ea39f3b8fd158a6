//! The features to parse ([`Feature`]), the result ([`Parsed`]), and the attributes of the op ([`Wanted`]).

use crate::ops::{Ops, OutputOps};
use crate::options::Start;
use crate::sugar::Functions;
use millstream_graph::{Attr, Graph, Op, OpBuilder, Output, SparseTensor};
use millstream_tensor::{DType, PartialShape, Result, Shape, Str, Tensor, ensure, invalid};
use std::collections::BTreeMap;

/// A feature with a fixed number of values in every example.
///
/// ```
/// use millstream::parsing::{FixedLenFeature, parse_single_example};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let json = r#"{"features": {"feature": {"age": {"int64List": {"value": [36]}}}}}"#;
/// let message = g.parsing().decode_json_example(json);
/// let age = FixedLenFeature::new(shape![], DType::I64);
/// let parsed = parse_single_example(&g, message, [("age", age.into())])?;
/// assert_eq!(Session::new(&g)?.run::<i64>(parsed.dense("age")?, feed![])?, 36);
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FixedLenFeature {
    shape: PartialShape,
    dtype: DType,
    default: Option<Tensor>,
}

impl FixedLenFeature {
    /// Returns a feature of this shape; Returns a feature of this dtype: f32, i64 or string.
    pub fn new(shape: impl Into<PartialShape>, dtype: DType) -> Self {
        FixedLenFeature { shape: shape.into(), dtype, default: None }
    }

    /// Sets the value for examples without the feature; by default its absence is an error.
    ///
    /// ```
    /// use millstream::parsing::{FixedLenFeature, parse_single_example};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let message = g.parsing().decode_json_example("{}");
    /// let age = FixedLenFeature::new(shape![], DType::I64).default_value(Tensor::scalar(-1i64));
    /// let parsed = parse_single_example(&g, message, [("age", age.into())])?;
    /// assert_eq!(Session::new(&g)?.run::<i64>(parsed.dense("age")?, feed![])?, -1);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn default_value(mut self, value: Tensor) -> Self {
        self.default = Some(value);
        self
    }
}

/// A feature with any number of values: a sparse tensor.
///
/// ```
/// use millstream::parsing::{VarLenFeature, parse_single_example};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let json = r#"{"features": {"feature": {"n": {"int64List": {"value": [4, 5]}}}}}"#;
/// let message = g.parsing().decode_json_example(json);
/// let parsed = parse_single_example(&g, message, [("n", VarLenFeature::new(DType::I64).into())])?;
/// assert_eq!(Session::new(&g)?.run::<Vec<i64>>(parsed.sparse("n")?.values, feed![])?, [4, 5]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct VarLenFeature {
    dtype: DType,
}

impl VarLenFeature {
    /// Returns a feature of this dtype: f32, i64 or string.
    pub fn new(dtype: DType) -> Self {
        VarLenFeature { dtype }
    }
}

/// A feature whose first dimension varies: a dense tensor, padded to the longest in a batch. In a sequence: a
/// value per step.
///
/// ```
/// use millstream::parsing::{FixedLenSequenceFeature, parse_single_example};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let json = r#"{"features": {"feature": {"n": {"int64List": {"value": [4, 5]}}}}}"#;
/// let message = g.parsing().decode_json_example(json);
/// let n = FixedLenSequenceFeature::new(shape![], DType::I64).allow_missing();
/// let parsed = parse_single_example(&g, message, [("n", n.into())])?;
/// assert_eq!(Session::new(&g)?.run::<Vec<i64>>(parsed.dense("n")?, feed![])?, [4, 5]);
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FixedLenSequenceFeature {
    shape: PartialShape,
    dtype: DType,
    allow_missing: bool,
    default: Option<Tensor>,
}

impl FixedLenSequenceFeature {
    /// Returns a feature of this shape, without the first dimension; Returns a feature of this dtype: f32,
    /// i64 or string.
    pub fn new(shape: impl Into<PartialShape>, dtype: DType) -> Self {
        FixedLenSequenceFeature { shape: shape.into(), dtype, allow_missing: false, default: None }
    }

    /// Treats a missing feature as empty. Required for features of examples.
    pub fn allow_missing(mut self) -> Self {
        self.allow_missing = true;
        self
    }

    /// Sets the padding, one value; by default zero or an empty string.
    pub fn default_value(mut self, value: Tensor) -> Self {
        self.default = Some(value);
        self
    }
}

/// A sparse tensor whose indices and values are separate features.
#[derive(Clone, Debug)]
pub struct SparseFeature {
    index_keys: Vec<String>,
    value_key: String,
    dtype: DType,
    sizes: Vec<i64>,
    already_sorted: bool,
}

impl SparseFeature {
    /// Returns a sparse feature with the values of the feature `value_key`. The features `index_keys` (i64)
    /// are their indices, one dimension each, of these sizes.
    pub fn new(
        index_keys: impl IntoIterator<Item = impl Into<String>>,
        value_key: impl Into<String>,
        dtype: DType,
        sizes: impl IntoIterator<Item = i64>,
    ) -> Self {
        let index_keys = index_keys.into_iter().map(Into::into).collect();
        let sizes = sizes.into_iter().collect();
        SparseFeature { index_keys, value_key: value_key.into(), dtype, sizes, already_sorted: false }
    }

    /// Declares that the indices are sorted.
    pub fn already_sorted(mut self) -> Self {
        self.already_sorted = true;
        self
    }
}

/// A feature to parse.
#[derive(Clone, Debug)]
pub enum Feature {
    /// A fixed number of values.
    FixedLen(FixedLenFeature),
    /// Any number of values, sparse.
    VarLen(VarLenFeature),
    /// Any number of values, dense.
    Sequence(FixedLenSequenceFeature),
    /// Values whose indices are also features.
    Sparse(SparseFeature),
}

macro_rules! features {
    ($($variant:ident($t:ident))*) => { $(
        impl From<$t> for Feature {
            fn from(feature: $t) -> Feature {
                Feature::$variant(feature)
            }
        }
    )* };
}
features! { FixedLen(FixedLenFeature) VarLen(VarLenFeature) Sequence(FixedLenSequenceFeature) Sparse(SparseFeature) }

/// Parsed features, dense and sparse, by name.
#[derive(Clone, Debug, Default)]
pub struct Parsed<'g> {
    dense: BTreeMap<String, Output<'g>>,
    sparse: BTreeMap<String, SparseTensor<'g>>,
}

impl<'g> Parsed<'g> {
    /// Returns a feature of fixed length, or a sequence.
    pub fn dense(&self, key: &str) -> Result<Output<'g>> {
        self.dense.get(key).copied().ok_or_else(|| self.missing(key, "dense"))
    }

    /// Returns a feature of variable length, or a sparse one.
    pub fn sparse(&self, key: &str) -> Result<SparseTensor<'g>> {
        self.sparse.get(key).copied().ok_or_else(|| self.missing(key, "sparse"))
    }

    fn missing(&self, key: &str, kind: &str) -> millstream_tensor::Error {
        let (dense, sparse): (Vec<_>, Vec<_>) = (self.dense.keys().collect(), self.sparse.keys().collect());
        invalid!("there is no {kind} feature `{key}`; dense are {dense:?}, sparse {sparse:?}")
    }
}

/// The attributes of an op for the wanted features, in the order of their keys.
#[derive(Default)]
pub(super) struct Wanted {
    pub sparse: Vec<(String, DType)>,
    pub dense: Vec<(String, DType, PartialShape)>,
    pub missing_assumed_empty: Vec<Str>,
    /// Features composed of sparse outputs.
    composed: Vec<(String, SparseFeature)>,
    plain: Vec<String>,
}

impl Wanted {
    fn push_sparse(&mut self, key: &str, dtype: DType) -> Result<()> {
        match self.sparse.iter().find(|(k, _)| k == key) {
            None => self.sparse.push((key.to_owned(), dtype)),
            Some((_, other)) => ensure!(
                *other == dtype,
                "feature `{key}` is wanted as {other} and as {dtype}: two sparse features use it"
            ),
        }
        Ok(())
    }

    /// Collects the features of examples, or of the context of a sequence.
    pub fn of_examples(features: &BTreeMap<String, Feature>) -> Result<Wanted> {
        let mut wanted = Wanted::default();
        for (key, feature) in features {
            match feature {
                Feature::FixedLen(f) => {
                    wanted.dense.push((key.clone(), f.dtype, known(key, &f.shape)?.into()))
                }
                Feature::Sequence(f) => {
                    ensure!(
                        f.allow_missing,
                        "feature `{key}` of an example varies in length, so that it may be empty: say `.allow_missing()`"
                    );
                    wanted.dense.push((key.clone(), f.dtype, steps_of(&known(key, &f.shape)?)));
                }
                Feature::VarLen(f) => {
                    wanted.plain.push(key.clone());
                    wanted.push_sparse(key, f.dtype)?;
                }
                Feature::Sparse(f) => {
                    ensure!(
                        f.index_keys.len() == f.sizes.len() && !f.sizes.is_empty(),
                        "sparse feature `{key}` has {} index keys but {} sizes: it needs one each",
                        f.index_keys.len(),
                        f.sizes.len()
                    );
                    let mut index_keys = f.index_keys.clone();
                    index_keys.sort();
                    for index in &index_keys {
                        wanted.push_sparse(index, DType::I64)?;
                    }
                    wanted.push_sparse(&f.value_key, f.dtype)?;
                    wanted.composed.push((key.clone(), f.clone()));
                }
            }
        }
        Ok(wanted)
    }

    /// Collects the features of the steps of a sequence.
    pub fn of_steps(features: &BTreeMap<String, Feature>) -> Result<Wanted> {
        let mut wanted = Wanted::default();
        for (key, feature) in features {
            match feature {
                Feature::Sequence(f) => {
                    ensure!(
                        f.default.is_none(),
                        "feature list `{key}` has a default, but its steps are all there"
                    );
                    if f.allow_missing {
                        wanted.missing_assumed_empty.push(key.as_str().into());
                    }
                    wanted.dense.push((key.clone(), f.dtype, known(key, &f.shape)?.into()));
                }
                Feature::VarLen(f) => {
                    wanted.plain.push(key.clone());
                    wanted.push_sparse(key, f.dtype)?;
                }
                other => {
                    return Err(invalid!(
                        "feature list `{key}` is declared as {other:?}: a feature list must be a `FixedLenSequenceFeature` or a `VarLenFeature`"
                    ));
                }
            }
        }
        Ok(wanted)
    }

    pub fn keys(&self) -> (Vec<String>, Vec<String>) {
        let sparse = self.sparse.iter().map(|(key, _)| key.clone()).collect();
        (sparse, self.dense.iter().map(|(key, ..)| key.clone()).collect())
    }

    /// Returns the number of outputs for these features, without lengths.
    pub fn n_outputs(&self) -> usize {
        3 * self.sparse.len() + self.dense.len()
    }

    /// Sets the dtypes and shapes as attributes of these names.
    pub fn types<'g>(
        &self,
        node: OpBuilder<'g>,
        [sparse_types, dense_types, dense_shapes]: [&'static str; 3],
    ) -> OpBuilder<'g> {
        node.attr(sparse_types, list(self.sparse.iter().map(|(_, dtype)| *dtype)))
            .attr(dense_types, list(self.dense.iter().map(|(_, dtype, _)| *dtype)))
            .attr(dense_shapes, list(self.dense.iter().map(|(_, _, shape)| shape.clone())))
    }

    /// Returns the outputs of the op from `first` on, by name.
    pub fn parsed<'g>(&self, op: Op<'g>, first: usize) -> Result<Parsed<'g>> {
        let n = self.sparse.len();
        let outputs = op.outputs();
        let part = |i: usize| SparseTensor {
            indices: outputs[first + i],
            values: outputs[first + n + i],
            dense_shape: outputs[first + 2 * n + i],
        };
        let raw: BTreeMap<&str, SparseTensor<'g>> =
            self.sparse.iter().enumerate().map(|(i, (key, _))| (key.as_str(), part(i))).collect();
        let dense = self.dense.iter().enumerate();
        let mut parsed = Parsed {
            dense: dense.map(|(i, (key, ..))| (key.clone(), outputs[first + 3 * n + i])).collect(),
            sparse: self.plain.iter().map(|key| (key.clone(), raw[key.as_str()])).collect(),
        };
        for (key, feature) in &self.composed {
            let indices: Vec<_> = feature.index_keys.iter().map(|key| &raw[key.as_str()]).collect();
            parsed.sparse.insert(key.clone(), compose(feature, &indices, &raw[feature.value_key.as_str()])?);
        }
        Ok(parsed)
    }
}

/// Returns a sparse tensor whose indices in each dimension are the values of another one: `tf.sparse_merge`.
fn compose<'g>(
    feature: &SparseFeature,
    indices: &[&SparseTensor<'g>],
    values: &SparseTensor<'g>,
) -> Result<SparseTensor<'g>> {
    let g = values.values.graph();
    g.name_scope("SparseMerge", || {
        let columns: Vec<Output<'g>> = indices.iter().map(|i| i.values.expand_dims(1)).collect();
        let sizes = g.constant(feature.sizes.clone());
        let first = indices[0];
        // All columns and sizes except the last, which numbers the values of an example.
        let rows = g.with("begin_mask", 1).with("end_mask", 1).array().strided_slice(
            first.indices,
            [0, 0],
            [0, -1],
            [1, 1],
        );
        let batch = g.with("begin_mask", 1).array().strided_slice(first.dense_shape, [0], [-1], [1]);
        let places = std::iter::once(rows).chain(columns);
        let indices = g.concat(1, places);
        let shape = g.concat(0, [batch, sizes]);
        if feature.already_sorted {
            return Ok(SparseTensor { indices, values: values.values, dense_shape: shape });
        }
        let op = g.op("SparseReorder").input(indices).input(values.values).input(shape).try_finish()?;
        let dense_shape = shape.identity();
        Ok(SparseTensor { indices: op.output(0), values: op.output(1), dense_shape })
    })
}

pub(super) fn list<T: Into<Attr>>(items: impl IntoIterator<Item = T>) -> Attr {
    Attr::List(items.into_iter().map(Into::into).collect())
}

fn known(key: &str, shape: &PartialShape) -> Result<Shape> {
    shape.full().ok_or_else(|| {
        invalid!("the shape of feature `{key}` must be known, but is {shape}").with_help(
            "a first dimension that varies is left out of the shape of a `FixedLenSequenceFeature`",
        )
    })
}

fn steps_of(shape: &Shape) -> PartialShape {
    PartialShape::new(std::iter::once(None).chain(shape.dims().iter().map(|&d| Some(d))))
}

/// Returns the defaults of the dense features, in the order of their keys; an empty value without a default.
/// As in TensorFlow, defaults of the op for many sequences have their full shape.
pub(super) fn defaults<'g>(
    g: &'g Graph,
    features: &BTreeMap<String, Feature>,
    for_sequences: bool,
) -> Result<Vec<Output<'g>>> {
    let mut outputs = Vec::new();
    for (key, feature) in features {
        let (prefix, dtype, shape, default) = match feature {
            Feature::FixedLen(f) => ("key", f.dtype, known(key, &f.shape)?, &f.default),
            Feature::Sequence(f) => ("padding", f.dtype, Shape::default(), &f.default),
            _ => continue,
        };
        let Some(default) = default else {
            // Empty for a required feature; zero for a padded one.
            let none = if prefix == "key" { Shape::from([0]) } else { Shape::default() };
            outputs.push(g.constant_tensor("Const", Tensor::zeros(dtype, none)?));
            continue;
        };
        ensure!(
            default.dtype() == dtype && default.elements() == shape.elements(),
            "the default of feature `{key}` is {}{}, but {dtype}{shape} is wanted",
            default.dtype(),
            default.shape()
        );
        let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-/".contains(c) { c } else { '_' };
        let name = format!("{prefix}_{}", key.chars().map(plain).collect::<String>());
        if for_sequences {
            outputs.push(g.constant_tensor(&name, default.reshape(shape)?));
            continue;
        }
        let default = g.constant_tensor(&name, default.clone());
        let dims: Vec<i32> = shape.dims().iter().map(|&d| i32::try_from(d).unwrap_or(i32::MAX)).collect();
        outputs.push(default.reshape(Tensor::vector(&dims)?));
    }
    Ok(outputs)
}
