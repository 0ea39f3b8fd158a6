//! Checked conversion of the signed axes, sizes and counts that graphs carry. Negative axes count from the
//! back.

use millstream_tensor::{
    Assembler, DType, Dim, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element,
};
use smallvec::SmallVec;

/// Sizes of a few axes.
pub(crate) type Sizes = SmallVec<[usize; 4]>;

/// Returns `axis` counted from the front. `what` is the name that the error message gives it.
pub(crate) fn axis(what: &str, axis: i64, rank: usize) -> Result<usize> {
    let r = rank as i64;
    let from_front = if axis < 0 { axis + r } else { axis };
    match usize::try_from(from_front) {
        Ok(a) if a < rank => Ok(a),
        _ if rank == 0 => Err(invalid!("`{what}` is {axis}, but a scalar has no axes")),
        _ => Err(invalid!("`{what}` is {axis}, which is not in {}..{rank} for rank {rank}", -r)),
    }
}

/// As [`axis`], for the input of an op that reduces or scans along it: its error also gives the range.
pub(crate) fn input_axis(name: &str, axis: i64, rank: usize) -> Result<usize> {
    let rank_signed = rank as i64;
    let i = if axis < 0 { axis.checked_add(rank_signed).unwrap_or(-1) } else { axis };
    ensure!(
        0 <= i && i < rank_signed,
        "`{name}` is {axis} but the input has rank {rank}: an axis lies in -{rank}..{rank}"
    );
    Ok(i as usize)
}

/// Returns the position at which a new axis is inserted, counted from the front; `axis` is in
/// `-rank - 1 ..= rank`.
pub(crate) fn new_axis(what: &str, axis: i64, rank: usize) -> Result<usize> {
    self::axis(what, axis, rank + 1)
}

/// Returns TensorFlow's message for a shape that does not begin with another.
pub(crate) fn prefix_difference(data: &PartialShape, prefix: &PartialShape) -> String {
    let (all, front) = (data.dims().unwrap_or(&[]), prefix.dims().unwrap_or(&[]));
    match all.get(..front.len()) {
        Some(begin) => PartialShape::new(begin.iter().copied()).unlike_dims(prefix),
        None => data.below_rank(front.len()),
    }
}

/// Returns TensorFlow's name of one entry of a tensor: `indices[0,1]`, or `indices` for a scalar.
pub(crate) fn entry(what: &str, dims: &[usize], flat: usize) -> String {
    if dims.is_empty() {
        return what.to_owned();
    }
    let mut rest = flat;
    let mut places: SmallVec<[String; 4]> = SmallVec::new();
    for &dim in dims.iter().rev() {
        places.push((rest % dim.max(1)).to_string());
        rest /= dim.max(1);
    }
    places.reverse();
    format!("{what}[{}]", places.join(","))
}

/// Formats numbers as TensorFlow's messages do, separated by `between`. Of very many, the first are enough:
/// messages are short.
pub(crate) fn listed<T: std::fmt::Display>(numbers: &[T], between: &str) -> String {
    const MOST: usize = 4096;
    let mut text = numbers.iter().take(MOST).map(T::to_string).collect::<Vec<_>>().join(between);
    if MOST < numbers.len() {
        text = text + between + "..";
    }
    text
}

/// Returns a size as `usize`, or an error if it is negative.
pub(crate) fn size(what: &str, value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| invalid!("`{what}` is {value} but must not be negative"))
}

/// Returns the product of dimensions of one tensor. It saturates, which only the shape of an empty tensor can
/// cause.
pub(crate) fn product(dims: &[usize]) -> usize {
    dims.iter().fold(1, |n, &d| n.saturating_mul(d))
}

/// Returns a computed dimension if it fits in the 63 bits of a dimension.
pub(crate) fn bounded(dim: Option<usize>) -> Option<usize> {
    dim.filter(|&d| d <= i64::MAX as usize)
}

/// Returns the sum of two dimensions, or `None` if either is unknown.
pub(crate) fn sum(a: Dim, b: Dim) -> Result<Dim> {
    match (a, b) {
        (Some(a), Some(b)) => {
            bounded(a.checked_add(b)).map(Some).ok_or_else(|| invalid!("{a} + {b} does not fit in 63 bits"))
        }
        _ => Ok(None),
    }
}

/// Returns an i32 or i64 tensor of sizes or positions, or an error if one does not fit.
pub(crate) fn counts(
    dtype: DType,
    shape: impl Into<Shape>,
    values: impl IntoIterator<Item = usize>,
) -> Result<Tensor> {
    if dtype == DType::I64 {
        return Tensor::from_iter(shape, values.into_iter().map(|v| v as i64));
    }
    let mut over = None;
    let narrow = values.into_iter().map(|v| {
        i32::try_from(v).unwrap_or_else(|_| {
            over = Some(v);
            0
        })
    });
    let out = Tensor::from_iter(shape, narrow)?;
    match over {
        Some(v) => Err(invalid!("{v} does not fit in i32").with_help("ask for i64")),
        None => Ok(out),
    }
}

/// Returns the integers of an i16, i32 or i64 tensor as i64.
pub(crate) fn ints(t: &Tensor) -> Result<SmallVec<[i64; 8]>> {
    match t.dtype() {
        DType::I64 => Ok(SmallVec::from_slice(t.as_slice::<i64>()?)),
        DType::I16 => Ok(t.as_slice::<i16>()?.iter().map(|&v| v.into()).collect()),
        _ => Ok(t.as_slice::<i32>()?.iter().map(|&v| v.into()).collect()),
    }
}

/// Returns an error unless `t` is a vector.
pub(crate) fn vector(what: &str, t: &Tensor) -> Result<()> {
    ensure!(t.rank() == 1, "`{what}` must be a vector but has shape {}", t.shape());
    Ok(())
}

/// Returns an error unless `t` is a scalar.
pub(crate) fn scalar(what: &str, t: &Tensor) -> Result<()> {
    ensure!(t.rank() == 0, "`{what}` must be a scalar but has shape {}", t.shape());
    Ok(())
}

/// Returns the element at this row-major position as a scalar.
pub(crate) fn element(t: &Tensor, at: usize) -> Result<Tensor> {
    let plain =
        with_element!(t.dtype(), T => t.as_slice::<T>()?.get(at).map(|&v| Tensor::scalar(v)), else => None);
    match plain {
        Some(plain) => Ok(plain),
        // A handle is copied with three reference counts, for which all threads that use the resource would
        // contend. The vector that holds it is theirs alone, mostly.
        None if t.dtype() == DType::Resource && t.rank() == 1 => t.row(at),
        None => t.take(Shape::scalar(), &[at]),
    }
}

/// Returns a tensor without elements.
pub(crate) fn empty(dtype: DType, shape: Shape) -> Result<Tensor> {
    Assembler::new(dtype, shape)?.finish()
}

/// Returns `shape` without dimension `at`.
pub(crate) fn without(shape: &Shape, at: usize) -> Shape {
    Shape::new(shape.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &d)| d))
}

/// Returns `shape` with dimension `at` replaced by `dim`.
pub(crate) fn replaced(shape: &Shape, at: usize, dim: usize) -> Shape {
    Shape::new(shape.iter().enumerate().map(|(i, &d)| if i == at { dim } else { d }))
}

/// As [`replaced`], for dimensions that may be unknown.
pub(crate) fn dim_replaced(dims: &[Dim], at: usize, dim: Dim) -> PartialShape {
    PartialShape::new(dims.iter().enumerate().map(|(i, &d)| if i == at { dim } else { d }))
}

/// Returns the concatenation of the parts as a shape.
pub(crate) fn joined(parts: &[&[Dim]]) -> PartialShape {
    PartialShape::new(parts.iter().flat_map(|p| p.iter().copied()))
}
