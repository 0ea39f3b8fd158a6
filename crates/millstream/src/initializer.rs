//! [`Initializer`]: the initial values of variables.

use crate::ops::{Ops, OutputOps};
use crate::options::Start;
use crate::sugar::{filled, normal, uniform};
use crate::value::Value;
use millstream_graph::{Graph, Output, weak_cast};
use millstream_tensor::{DType, Result, Shape, Tensor, ensure, invalid};
use std::sync::Arc;

/// A function from a shape and a dtype to the initial value of a variable. The numbers are those of
/// TensorFlow's initializers of the same names and seeds.
///
/// ```
/// use millstream::{Initializer, VariableScopes};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let w = g.get_variable("w", [2, 2]).initializer(Initializer::identity(1.0)).build()?;
/// let session = Session::new(&g)?;
/// session.run::<()>(w.initializer(), feed![])?;
/// assert_eq!(session.run::<Tensor>(w.value(), feed![])?.to_string(), "f32[2,2] [[1 0] [0 1]]");
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone)]
pub struct Initializer(Kind);

type Make = dyn for<'g> Fn(&'g Graph, &Shape, DType) -> Result<Output<'g>> + Send + Sync;

#[derive(Clone)]
enum Kind {
    Constant { value: Tensor, name: &'static str },
    Uniform { min: f64, max: f64, seed: Option<i64> },
    Normal { mean: f64, stddev: f64, truncated: bool, seed: Option<i64> },
    Scaled { scale: f64, fan: Fan, spread: Spread, seed: Option<i64> },
    Identity { gain: f64 },
    Orthogonal { gain: f64, seed: Option<i64> },
    Custom(Arc<Make>),
}

/// The divisor of the variance in [`Initializer::variance_scaling`].
///
/// ```
/// use millstream::{Fan, Initializer, Spread, VariableScopes};
/// use millstream::prelude::*;
/// let g = Graph::new();
/// let init = Initializer::variance_scaling(1.0, Fan::Out, Spread::Uniform, Some(1));
/// let w = g.get_variable("w", [2, 3]).initializer(init).build()?;
/// let largest = w.initial_value().expect("a new variable").abs().reduce_max(());
/// assert!(Session::new(&g)?.run::<f32>(largest, feed![])? <= 1.0); // sqrt(3 / 3)
/// # Ok::<(), millstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fan {
    /// The number of inputs of a unit.
    In,
    /// The number of outputs of a unit.
    Out,
    /// The mean of both.
    Mean,
}

/// The distribution of [`Initializer::variance_scaling`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// The normal distribution, truncated at two standard deviations.
    TruncatedNormal,
    /// The normal distribution.
    Normal,
    /// The uniform distribution.
    Uniform,
}

impl std::fmt::Debug for Initializer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match &self.0 {
            Kind::Constant { name, .. } => name,
            Kind::Uniform { .. } => "random_uniform",
            Kind::Normal { .. } => "random_normal",
            Kind::Scaled { .. } => "variance_scaling",
            Kind::Identity { .. } => "identity",
            Kind::Orthogonal { .. } => "orthogonal",
            Kind::Custom(_) => "custom",
        })
    }
}

impl Initializer {
    /// Returns an initializer with zeros.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Initializer, VariableScopes};
    /// let g = Graph::new();
    /// let v = g.get_variable("v", [2]).initializer(Initializer::zeros()).build()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(v.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<f32>>(v.read(), feed![])?, [0.0, 0.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn zeros() -> Initializer {
        Initializer(Kind::Constant { value: Tensor::scalar(0.0), name: "zeros" })
    }

    /// Returns an initializer with ones.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Initializer, VariableScopes};
    /// let g = Graph::new();
    /// let v = g.get_variable("v", [2]).initializer(Initializer::ones()).build()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(v.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<f32>>(v.read(), feed![])?, [1.0, 1.0]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn ones() -> Initializer {
        Initializer(Kind::Constant { value: Tensor::scalar(1.0), name: "ones" })
    }

    /// Returns an initializer with one number for all elements, or with all elements in order.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Initializer, VariableScopes};
    /// let g = Graph::new();
    /// let v = g.get_variable("v", [2]).initializer(Initializer::constant(0.5f32)).build()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(v.initializer(), feed![])?;
    /// assert_eq!(session.run::<Vec<f32>>(v.read(), feed![])?, [0.5, 0.5]);
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn constant(value: impl Into<Tensor>) -> Initializer {
        Initializer(Kind::Constant { value: value.into(), name: "Const" })
    }

    /// Returns an initializer with numbers of the uniform distribution over `min <= x < max`.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Initializer, VariableScopes};
    /// let g = Graph::new();
    /// let v = g.get_variable("v", [2, 2]).initializer(Initializer::random_uniform(-1.0, 1.0, Some(1))).build()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(v.initializer(), feed![])?;
    /// let found: Tensor = session.run(v.read(), feed![])?;
    /// assert!(found.as_slice::<f32>()?.iter().all(|x| (-1.0..1.0).contains(x)));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn random_uniform(min: f64, max: f64, seed: Option<i64>) -> Initializer {
        Initializer(Kind::Uniform { min, max, seed })
    }

    /// Returns an initializer with numbers of the normal distribution.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Initializer, VariableScopes};
    /// let g = Graph::new();
    /// let v = g.get_variable("v", [2, 2]).initializer(Initializer::random_normal(10.0, 0.1, Some(1))).build()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(v.initializer(), feed![])?;
    /// let found: Tensor = session.run(v.read(), feed![])?;
    /// assert!(found.as_slice::<f32>()?.iter().all(|x| (9.0..11.0).contains(x)));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn random_normal(mean: f64, stddev: f64, seed: Option<i64>) -> Initializer {
        Initializer(Kind::Normal { mean, stddev, truncated: false, seed })
    }

    /// Returns an initializer with numbers of the normal distribution, redrawn until they lie within two
    /// standard deviations of the mean.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Initializer, VariableScopes};
    /// let g = Graph::new();
    /// let v = g.get_variable("v", [2, 2]).initializer(Initializer::truncated_normal(0.0, 0.5, Some(1))).build()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(v.initializer(), feed![])?;
    /// let found: Tensor = session.run(v.read(), feed![])?;
    /// assert!(found.as_slice::<f32>()?.iter().all(|x| (-1.0..1.0).contains(x)));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn truncated_normal(mean: f64, stddev: f64, seed: Option<i64>) -> Initializer {
        Initializer(Kind::Normal { mean, stddev, truncated: true, seed })
    }

    /// Returns an initializer with numbers of variance `scale / fan`, so that values keep their magnitude
    /// through a layer.
    ///
    /// ```
    /// use millstream::{Fan, Initializer, Spread, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let init = Initializer::variance_scaling(2.0, Fan::In, Spread::Uniform, Some(1));
    /// let w = g.get_variable("w", [100, 100]).initializer(init).build()?;
    /// let largest = w.initial_value().expect("a new variable").abs().reduce_max(());
    /// let largest: f32 = Session::new(&g)?.run(largest, feed![])?;
    /// assert!(largest <= (3.0f32 * 2.0 / 100.0).sqrt());
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn variance_scaling(scale: f64, fan: Fan, spread: Spread, seed: Option<i64>) -> Initializer {
        Initializer(Kind::Scaled { scale, fan, spread, seed })
    }

    /// Returns Glorot's initializer with the uniform distribution, the default for float variables.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Initializer, VariableScopes};
    /// let g = Graph::new();
    /// let v = g.get_variable("v", [2, 2]).initializer(Initializer::glorot_uniform(Some(1))).build()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(v.initializer(), feed![])?;
    /// let found: Tensor = session.run(v.read(), feed![])?;
    /// assert!(found.as_slice::<f32>()?.iter().all(|x| (-1.3..1.3).contains(x)));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn glorot_uniform(seed: Option<i64>) -> Initializer {
        Self::variance_scaling(1.0, Fan::Mean, Spread::Uniform, seed)
    }

    /// Returns Glorot's initializer with the truncated normal distribution.
    ///
    /// ```
    /// use millstream::{Initializer, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.get_variable("w", [3, 2]).initializer(Initializer::glorot_normal(Some(1))).build()?;
    /// assert_eq!(w.shape().to_string(), "[3,2]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn glorot_normal(seed: Option<i64>) -> Initializer {
        Self::variance_scaling(1.0, Fan::Mean, Spread::TruncatedNormal, seed)
    }

    /// Returns He's initializer with the uniform distribution.
    ///
    /// ```
    /// use millstream::{Initializer, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.get_variable("w", [6, 2]).initializer(Initializer::he_uniform(Some(1))).build()?;
    /// let largest = w.initial_value().expect("a new variable").abs().reduce_max(());
    /// assert!(Session::new(&g)?.run::<f32>(largest, feed![])? <= 1.0); // sqrt(6 / 6)
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn he_uniform(seed: Option<i64>) -> Initializer {
        Self::variance_scaling(2.0, Fan::In, Spread::Uniform, seed)
    }

    /// Returns He's initializer with the truncated normal distribution.
    ///
    /// ```
    /// use millstream::prelude::*;
    /// use millstream::{Initializer, VariableScopes};
    /// let g = Graph::new();
    /// let v = g.get_variable("v", [2, 2]).initializer(Initializer::he_normal(Some(1))).build()?;
    /// let session = Session::new(&g)?;
    /// session.run::<()>(v.initializer(), feed![])?;
    /// let found: Tensor = session.run(v.read(), feed![])?;
    /// assert!(found.as_slice::<f32>()?.iter().all(|x| (-3.0..3.0).contains(x)));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn he_normal(seed: Option<i64>) -> Initializer {
        Self::variance_scaling(2.0, Fan::In, Spread::TruncatedNormal, seed)
    }

    /// Returns LeCun's initializer with the uniform distribution.
    ///
    /// ```
    /// use millstream::{Initializer, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.get_variable("w", [3, 2]).initializer(Initializer::lecun_uniform(Some(1))).build()?;
    /// let largest = w.initial_value().expect("a new variable").abs().reduce_max(());
    /// assert!(Session::new(&g)?.run::<f32>(largest, feed![])? <= 1.0); // sqrt(3 / 3)
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn lecun_uniform(seed: Option<i64>) -> Initializer {
        Self::variance_scaling(1.0, Fan::In, Spread::Uniform, seed)
    }

    /// Returns LeCun's initializer with the truncated normal distribution.
    ///
    /// ```
    /// use millstream::{Initializer, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.get_variable("w", [3, 2]).initializer(Initializer::lecun_normal(Some(1))).build()?;
    /// assert_eq!(w.shape().to_string(), "[3,2]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn lecun_normal(seed: Option<i64>) -> Initializer {
        Self::variance_scaling(1.0, Fan::In, Spread::TruncatedNormal, seed)
    }

    /// Returns an initializer with a matrix that has `gain` on the diagonal and zeros elsewhere.
    ///
    /// ```
    /// use millstream::{Initializer, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.get_variable("w", [2, 3]).initializer(Initializer::identity(2.0)).build()?;
    /// let start = w.initial_value().expect("a new variable");
    /// let start: Tensor = Session::new(&g)?.run(start, feed![])?;
    /// assert_eq!(start.to_string(), "f32[2,3] [[2 0 0] [0 2 0]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn identity(gain: f64) -> Initializer {
        Initializer(Kind::Identity { gain })
    }

    /// Returns an initializer with a matrix of orthonormal columns (or rows, if there are fewer of them),
    /// times `gain`: products with it keep the length of vectors. All axes except the last count as rows.
    ///
    /// ```
    /// use millstream::{Initializer, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let w = g.get_variable("w", [4, 4]).initializer(Initializer::orthogonal(1.0, Some(1))).build()?;
    /// let q = w.initial_value().expect("a new variable");
    /// let first = (q * q).reduce_sum(0); // columns of length 1
    /// let lengths: Vec<f32> = Session::new(&g)?.run(first, feed![])?;
    /// assert!(lengths.iter().all(|length| (length - 1.0).abs() < 1e-5));
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn orthogonal(gain: f64, seed: Option<i64>) -> Initializer {
        Initializer(Kind::Orthogonal { gain, seed })
    }

    /// Returns an initializer that calls a function with the graph, the shape and the dtype.
    ///
    /// ```
    /// use millstream::{Initializer, VariableScopes};
    /// use millstream::prelude::*;
    /// let g = Graph::new();
    /// let counting = Initializer::custom(|g, shape, dtype| {
    ///     let sizes: Vec<i32> = shape.dims().iter().map(|size| *size as i32).collect();
    ///     Ok(g.reshape(g.range(0, shape.elements() as i32, 1), sizes).cast_to(dtype))
    /// });
    /// let w = g.get_variable("w", [2, 2]).initializer(counting).build()?;
    /// let start = w.initial_value().expect("a new variable");
    /// assert_eq!(Session::new(&g)?.run::<Tensor>(start, feed![])?.to_string(), "f32[2,2] [[0 1] [2 3]]");
    /// # Ok::<(), millstream::Error>(())
    /// ```
    pub fn custom(
        make: impl for<'g> Fn(&'g Graph, &Shape, DType) -> Result<Output<'g>> + Send + Sync + 'static,
    ) -> Initializer {
        Initializer(Kind::Custom(Arc::new(make)))
    }

    /// Adds the nodes of the value in the current scope.
    #[track_caller]
    pub(crate) fn make<'g>(&self, g: &'g Graph, shape: &Shape, dtype: DType) -> Result<Output<'g>> {
        let number = |value: f64| weak_cast(&Tensor::scalar(value), dtype);
        let floats = |what: &str| -> Result<()> {
            ensure!(dtype.is_float(), "an initializer of {what} makes floats, not {dtype}");
            Ok(())
        };
        match &self.0 {
            Kind::Constant { value, name } => constant(g, name, value, shape, dtype),
            Kind::Uniform { min, max, seed } => {
                Ok(uniform(g.options(), dims(shape)?, [number(*min)?, number(*max)?], *seed))
            }
            Kind::Normal { mean, stddev, truncated, seed } => {
                floats("normal numbers")?;
                let [name, op] = match truncated {
                    true => ["truncated_normal", "TruncatedNormal"],
                    false => ["random_normal", "RandomStandardNormal"],
                };
                Ok(normal(g.options(), name, op, dims(shape)?, [number(*mean)?, number(*stddev)?], *seed))
            }
            Kind::Scaled { scale, fan, spread, seed } => {
                floats("scaled variance")?;
                ensure!(0.0 < *scale, "the scale of a variance must be positive, not {scale}");
                let (fan_in, fan_out) = fans(shape);
                let fan = match fan {
                    Fan::In => fan_in,
                    Fan::Out => fan_out,
                    Fan::Mean => (fan_in + fan_out) / 2.0,
                };
                let variance = scale / fan.max(1.0);
                match spread {
                    Spread::Uniform => {
                        let limit = (3.0 * variance).sqrt();
                        Initializer::random_uniform(-limit, limit, *seed)
                    }
                    Spread::Normal => Initializer::random_normal(0.0, variance.sqrt(), *seed),
                    // The standard deviation of the normal distribution truncated to -2 ..= 2.
                    Spread::TruncatedNormal => {
                        Initializer::truncated_normal(0.0, variance.sqrt() / 0.879_625_661_034_239_8, *seed)
                    }
                }
                .make(g, shape, dtype)
            }
            Kind::Identity { gain } => identity(g, number(*gain)?, shape, dtype),
            Kind::Orthogonal { gain, seed } => {
                floats("orthogonal matrices")?;
                orthogonal(g, number(*gain)?, *seed, shape, dtype)
            }
            Kind::Custom(make) => make(g, shape, dtype),
        }
    }
}

/// Returns the default: Glorot's uniform initializer for floats, zeros for integers, bools and strings.
pub(crate) fn default_of(dtype: DType, name: &str) -> Result<Initializer> {
    match dtype {
        _ if dtype.is_float() => Ok(Initializer::glorot_uniform(None)),
        _ if dtype.is_integer() || matches!(dtype, DType::Bool | DType::Str) => Ok(Initializer::zeros()),
        _ => Err(invalid!("An initializer for variable {name} of {} is required", dtype.tf_name())),
    }
}

/// Returns a shape as the constant that random ops take.
fn dims<'g>(shape: &Shape) -> Result<Value<'g>> {
    small(shape).map(Value::from)
}

fn small(shape: &Shape) -> Result<Vec<i32>> {
    let small: Option<Vec<i32>> = shape.dims().iter().map(|&d| i32::try_from(d).ok()).collect();
    small.ok_or_else(|| invalid!("{shape} is too large"))
}

/// Returns the numbers of inputs and outputs of a unit with weights of this shape. The field of a convolution
/// counts for both.
fn fans(shape: &Shape) -> (f64, f64) {
    match shape.dims() {
        [] => (1.0, 1.0),
        [n] => (*n as f64, *n as f64),
        [field @ .., inputs, outputs] => {
            let field = field.iter().map(|&d| d as f64).product::<f64>();
            (*inputs as f64 * field, *outputs as f64 * field)
        }
    }
}

#[track_caller]
fn constant<'g>(g: &'g Graph, name: &str, value: &Tensor, shape: &Shape, dtype: DType) -> Result<Output<'g>> {
    let value = match (value.dtype(), dtype) {
        (DType::F64, DType::Bool) => Tensor::scalar(value.to_scalar::<f64>()? != 0.0),
        (DType::F64, DType::Str) if value.rank() == 0 => Tensor::str(""),
        (own, _) if own == dtype => value.clone(),
        _ => weak_cast(value, dtype)?,
    };
    ensure!(value.dtype() == dtype, "the constant {value} is not of dtype {dtype}");
    if value.elements() == 1 && name != "Const" {
        return Ok(filled(g.options(), name, value.into_shape(Shape::scalar())?, shape.clone()));
    }
    let value = match value.elements() {
        1 => Tensor::fill(shape.clone(), &value.into_shape(Shape::scalar())?)?,
        n => {
            let wanted = shape.elements();
            ensure!(
                n == wanted,
                "the constant has {n} elements but the variable has {wanted}, of shape {shape}"
            );
            value.into_shape(shape.clone())?
        }
    };
    Ok(g.constant_tensor(name, value))
}

#[track_caller]
fn identity<'g>(g: &'g Graph, gain: Tensor, shape: &Shape, dtype: DType) -> Result<Output<'g>> {
    let [rows, columns] = shape.dims() else {
        return Err(invalid!(
            "Identity matrix initializer can only be used for 2D matrices, not for {shape}"
        ));
    };
    let one = weak_cast(&Tensor::scalar(1.0), dtype)?;
    let zero = weak_cast(&Tensor::scalar(0.0), dtype)?;
    let eye = g.name_scope("eye", || {
        let diagonal = filled(g.options(), "ones", one, Shape::new([*rows.min(columns)]));
        if rows == columns {
            return g.named("diag").linalg().matrix_diag(diagonal);
        }
        let zeros = filled(g.options(), "zeros", zero, shape.clone());
        g.named("set_diag").linalg().matrix_set_diag(zeros, diagonal)
    });
    let gain = g.name_scope("mul", || {
        let gain = g.constant_tensor("x", gain);
        g.named(g.scope()).mul(gain, eye)
    });
    Ok(gain)
}

/// Returns the orthogonal factor of a matrix of normal numbers. The signs of its columns make the diagonal of
/// the other factor positive, so the distribution over orthogonal matrices is uniform.
#[track_caller]
fn orthogonal<'g>(
    g: &'g Graph,
    gain: Tensor,
    seed: Option<i64>,
    shape: &Shape,
    dtype: DType,
) -> Result<Output<'g>> {
    let Some((columns, rows)) = shape.dims().split_last().filter(|(_, rows)| !rows.is_empty()) else {
        return Err(invalid!("The tensor to initialize must be at least two-dimensional, not {shape}"));
    };
    let rows = rows.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    let rows = rows.ok_or_else(|| invalid!("{shape} is too large"))?;
    let wide = rows < *columns;
    let tall = if wide { [*columns, rows] } else { [rows, *columns] };
    let random = Initializer::random_normal(0.0, 1.0, seed).make(g, &Shape::from(&tall[..]), dtype)?;
    let qr = g.linalg().qr(random);
    let signs = g.sign(g.array().diag_part(qr[1]));
    let mut q = g.named("mul").mul(qr[0], signs);
    if wide {
        q = g.name_scope("matrix_transpose", || g.named("transpose").array().transpose(q, [1, 0]));
    }
    let q = q.reshape(Tensor::vector(&small(shape)?)?);
    let gain = g.constant_tensor("gain", gain);
    Ok(g.named("mul").mul(gain, q))
}
