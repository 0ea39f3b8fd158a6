//! Helpers of the ops that parse examples: the values of a feature in many examples (or steps of a sequence)
//! as one dense or sparse tensor.

use millstream_graph::op::{InferCx, NodeInfo};
use millstream_proto::{Feature, feature::Kind};
use millstream_tensor::budget::Charged;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Assembler, DType, PartialShape, Result, Shape, Str, Tensor, ensure, invalid};

/// The dtypes of features.
pub(super) const KINDS: &[DType] = &[DType::F32, DType::I64, DType::Str];

/// A feature that every example has in the same shape, or a default for it.
pub(super) struct Dense<'a> {
    pub key: &'a str,
    pub dtype: DType,
    /// The shape in one example. If the first dimension is unknown, the number of values in the example
    /// determines it.
    pub shape: &'a PartialShape,
    /// The value of a missing feature, or `None` if it is required. A feature of variable length is padded
    /// with it.
    pub default: Option<&'a Tensor>,
}

/// The rows (examples or steps) in which a feature is looked up. `row` formats a row number for messages.
pub(super) struct Rows<'a, 'r> {
    pub features: &'r [Option<&'a Feature>],
    pub row: &'r dyn Fn(usize) -> String,
}

/// Returns a key as UTF-8 text.
pub(super) fn key(bytes: &Str) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| invalid!("the key {bytes:?} is not valid UTF-8"))
}

/// Returns the values of a feature, if it is present.
fn kind(feature: Option<&Feature>) -> Option<&Kind> {
    feature?.kind.as_ref()
}

fn count(kind: &Kind) -> usize {
    match kind {
        Kind::BytesList(list) => list.value.len(),
        Kind::FloatList(list) => list.value.len(),
        Kind::Int64List(list) => list.value.len(),
    }
}

fn dtype(kind: &Kind) -> DType {
    match kind {
        Kind::BytesList(_) => DType::Str,
        Kind::FloatList(_) => DType::F32,
        Kind::Int64List(_) => DType::I64,
    }
}

fn values(kind: &Kind) -> Result<Tensor> {
    match kind {
        Kind::BytesList(list) => {
            let texts = list.value.iter().map(|text| Str::new(text.clone())).collect::<Result<Vec<Str>>>()?;
            Tensor::strings([texts.len()], texts)
        }
        Kind::FloatList(list) => Tensor::from_slice([list.value.len()], &list.value),
        Kind::Int64List(list) => Tensor::from_slice([list.value.len()], &list.value),
    }
}

/// Returns TensorFlow's name of a feature's dtype in messages.
fn word(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "float",
        DType::Str => "string",
        other => other.tf_name(),
    }
}

impl Rows<'_, '_> {
    /// Returns the beginning of TensorFlow's messages about one example of several, with its name.
    fn name(&self, i: usize) -> String {
        let row = (self.row)(i);
        match row
            .strip_prefix("example ")
            .map(|rest| rest.split_once("(\"").and_then(|(_, name)| name.strip_suffix("\")")))
        {
            None => String::new(),
            Some(name) => format!("Name: {}, ", name.unwrap_or("<unknown>")),
        }
    }

    /// Returns the index of the row as such messages give it.
    fn index(&self, i: usize) -> String {
        if self.name(i).is_empty() { String::new() } else { format!(", Index: {i}") }
    }

    fn check_dtype(&self, i: usize, key: &str, kind: &Kind, wanted: DType) -> Result<()> {
        ensure!(
            dtype(kind) == wanted,
            "{}Key: {key}{}.  Data types don't match. Data type: {} but expected type: {}, in {}",
            self.name(i),
            self.index(i),
            word(dtype(kind)),
            word(wanted),
            (self.row)(i)
        );
        Ok(())
    }

    /// Returns the values of all rows, in a tensor with as many rows.
    pub fn dense(&self, spec: &Dense<'_>) -> Result<Tensor> {
        let Dense { key, dtype, shape, default } = spec;
        let (varies, inner) = check_dense(key, shape, *dtype, *default)?;
        let (n, each) = (self.features.len(), inner.elements());
        let mut longest = 0;
        for (i, feature) in self.features.iter().enumerate() {
            let Some(kind) = kind(*feature) else {
                ensure!(
                    varies || default.is_some(),
                    "{}Feature: {key} (data type: {}) is required but could not be found. It is not in {}, and has no default",
                    self.name(i),
                    word(*dtype),
                    (self.row)(i)
                );
                continue;
            };
            self.check_dtype(i, key, kind, *dtype)?;
            let count = count(kind);
            match varies {
                true => ensure!(
                    count.checked_rem(each) == Some(0) || count == 0,
                    "{}Key: {key}{}.  Number of {} values is not a multiple of stride length. Saw {count} values but output \
                     shape is: {shape}, in {}",
                    self.name(i),
                    self.index(i),
                    word(*dtype),
                    (self.row)(i)
                ),
                false => ensure!(
                    count == each,
                    "{}Key: {key}{}.  Number of {} values != expected.  Values size: {count} but output shape: {shape}, in {}",
                    self.name(i),
                    self.index(i),
                    word(*dtype),
                    (self.row)(i)
                ),
            }
            longest = longest.max(count.checked_div(each).unwrap_or(0));
        }
        let lengths = if varies { vec![n, longest] } else { vec![n] };
        let whole = Shape::new(lengths.into_iter().chain(inner.dims().iter().copied()));
        let per_row = if varies { longest.saturating_mul(each) } else { each };
        whole.checked_elements()?;
        let nothing = Tensor::zeros(*dtype, Shape::default())?;
        let mut out = Assembler::new(*dtype, whole)?;
        for feature in self.features {
            match (kind(*feature), default) {
                (Some(kind), _) => {
                    let count = count(kind);
                    out.push(&values(kind)?, 0, count)?;
                    if varies {
                        out.push_fill(default.unwrap_or(&nothing), per_row - count)?;
                    }
                }
                (None, Some(default)) if !varies => out.push(default, 0, each)?,
                (None, _) => out.push_fill(default.unwrap_or(&nothing), per_row)?,
            }
        }
        out.finish()
    }

    /// Returns the existing values as a sparse tensor: indices of rows and of values in the rows, values, and
    /// shape.
    pub fn sparse(&self, key: &str, wanted: DType) -> Result<[Tensor; 3]> {
        let (mut total, mut longest) = (0, 0);
        for (i, feature) in self.features.iter().enumerate() {
            if let Some(kind) = kind(*feature) {
                self.check_dtype(i, key, kind, wanted)?;
                total += count(kind);
                longest = longest.max(count(kind));
            }
        }
        let mut out = Assembler::new(wanted, [total])?;
        let (mut indices, mut pace) = (Charged::with_room(2 * total)?, Pace::new());
        for (i, feature) in self.features.iter().enumerate() {
            let Some(kind) = kind(*feature) else { continue };
            let count = count(kind);
            pace.spend(8 + count)?;
            out.push(&values(kind)?, 0, count)?;
            for j in 0..count {
                indices.extend_from_slice(&[i as i64, j as i64])?;
            }
        }
        let shape = [self.features.len() as i64, longest as i64];
        Ok([Tensor::from_slice([total, 2], &indices)?, out.finish()?, Tensor::vector(&shape)?])
    }
}

/// Returns whether the first dimension of a dense feature varies, and the other dimensions.
fn check_dense(
    key: &str,
    shape: &PartialShape,
    dtype: DType,
    default: Option<&Tensor>,
) -> Result<(bool, Shape)> {
    ensure!(KINDS.contains(&dtype), "feature `{key}` cannot be {dtype}: features are f32, i64 or strings");
    let dims = shape.dims().ok_or_else(|| invalid!("the shape of feature `{key}` is unknown"))?;
    let varies = dims.first() == Some(&None);
    let inner = PartialShape::new(dims.iter().copied().skip(usize::from(varies))).full();
    let inner = inner.ok_or_else(|| {
        invalid!("the shape of feature `{key}` is {shape}: only its first dimension may be unknown")
    })?;
    inner.checked_elements()?;
    let Some(default) = default else { return Ok((varies, inner)) };
    ensure!(
        default.dtype() == dtype,
        "the default of feature `{key}` is {}, but the feature is {dtype}",
        default.dtype()
    );
    match varies {
        true => ensure!(
            default.elements() == 1,
            "feature `{key}` varies in length, so that its default is what it is filled up with, one value, but it has shape {}",
            default.shape()
        ),
        false => ensure!(
            *default.shape() == inner,
            "the default of feature `{key}` has shape {}, but the feature {shape}",
            default.shape()
        ),
    }
    Ok((varies, inner))
}

/// Returns the default in an input. An input without elements means that there is none.
pub(super) fn default(input: &Tensor) -> Option<&Tensor> {
    (input.elements() > 0).then_some(input)
}

/// Returns the only row of a tensor.
pub(super) fn only_row(tensor: Tensor) -> Result<Tensor> {
    let row = Shape::new(tensor.shape().dims().iter().copied().skip(1));
    tensor.into_shape(row)
}

/// Returns the only row of a sparse tensor.
pub(super) fn only_sparse_row([indices, values, shape]: [Tensor; 3]) -> Result<[Tensor; 3]> {
    let own: Vec<i64> = indices.as_slice::<i64>()?.chunks(2).map(|pair| pair[1]).collect();
    let longest = shape.as_slice::<i64>()?.get(1).copied().unwrap_or(0);
    Ok([Tensor::from_slice([own.len(), 1], &own)?, values, Tensor::vector(&[longest])?])
}

/// Returns an error unless these lists have equal lengths.
pub(super) fn check_counts(node: &NodeInfo, lists: &[(&str, usize)]) -> Result<()> {
    for pair in lists.windows(2) {
        let [(first, n), (second, m)] = pair else { continue };
        ensure!(n == m, "{} was given {n} `{first}` but {m} `{second}`", node.op.name);
    }
    Ok(())
}

/// Sets the shapes of sparse outputs from output `at`: `n` indices of rank `rank`, then `n` values, then `n`
/// shapes.
pub(super) fn sparse_shapes(cx: &mut InferCx, at: usize, n: usize, rank: usize) {
    for i in 0..n {
        cx.set(at + i, PartialShape::new([None, Some(rank)]));
        cx.set(at + n + i, PartialShape::unknown_of_rank(1));
        cx.set(at + 2 * n + i, PartialShape::new([Some(rank)]));
    }
}

/// Sets the shapes of dense outputs from output `at`: `rows` followed by the shape of one row.
pub(super) fn dense_shapes(cx: &mut InferCx, at: usize, attr: &str, rows: &[Option<usize>]) -> Result<()> {
    let shapes: Vec<PartialShape> = cx.attrs().shapes(attr)?.into_iter().cloned().collect();
    for (i, shape) in shapes.iter().enumerate() {
        let whole = match shape.dims() {
            Some(dims) => PartialShape::new(rows.iter().chain(dims).copied()),
            None => PartialShape::unknown(),
        };
        cx.set(at + i, whole);
    }
    Ok(())
}
