//! Axes, sizes and counts as graphs carry them: signed numbers, negative axes counted from the back, all of it checked.

use millstream_tensor::{
    Assembler, DType, Dim, PartialShape, Result, Shape, Tensor, ensure, invalid, with_element,
};
use smallvec::SmallVec;

/// A few sizes.
pub(super) type Sizes = SmallVec<[usize; 4]>;

/// `axis` counted from the front; `what` is its name in the message.
pub(super) fn axis(what: &str, axis: i64, rank: usize) -> Result<usize> {
    let r = rank as i64;
    let from_front = if axis < 0 { axis + r } else { axis };
    match usize::try_from(from_front) {
        Ok(a) if a < rank => Ok(a),
        _ if rank == 0 => Err(invalid!("`{what}` is {axis}, but a scalar has no axes")),
        _ => Err(invalid!("`{what}` is {axis}, which is not in {}..{rank} for rank {rank}", -r)),
    }
}

/// As [`axis`] for a place between axes, where a new one is put: `-rank - 1 ..= rank`.
pub(super) fn new_axis(what: &str, axis: i64, rank: usize) -> Result<usize> {
    self::axis(what, axis, rank + 1)
}

/// How TensorFlow names one entry of a tensor: `indices[0,1]`, a scalar's `indices`.
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

/// Numbers as TensorFlow prints them in a message, with this between them.
pub(crate) fn listed<T: std::fmt::Display>(numbers: &[T], between: &str) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(between)
}

/// A size as a kernel gets it.
pub(super) fn size(what: &str, value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| invalid!("`{what}` is {value} but must not be negative"))
}

/// The product of some sizes. They are dimensions of a tensor, so only an empty one's can be too large.
pub(super) fn product(dims: &[usize]) -> usize {
    dims.iter().fold(1, |n, &d| n.saturating_mul(d))
}

/// A dimension that was worked out, if it fits in the 63 bits that dimensions have.
pub(super) fn bounded(dim: Option<usize>) -> Option<usize> {
    dim.filter(|&d| d <= i64::MAX as usize)
}

/// The sum of two dimensions as far as they are known.
pub(super) fn sum(a: Dim, b: Dim) -> Result<Dim> {
    match (a, b) {
        (Some(a), Some(b)) => {
            bounded(a.checked_add(b)).map(Some).ok_or_else(|| invalid!("{a} + {b} does not fit in 63 bits"))
        }
        _ => Ok(None),
    }
}

/// An i32 or i64 tensor of sizes or places; an error where one does not fit.
pub(super) fn counts(
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

/// The integers of an i16, i32 or i64 tensor as i64.
pub(super) fn ints(t: &Tensor) -> Result<SmallVec<[i64; 8]>> {
    match t.dtype() {
        DType::I64 => Ok(t.as_slice::<i64>()?.iter().copied().collect()),
        DType::I16 => Ok(t.as_slice::<i16>()?.iter().map(|&v| v.into()).collect()),
        _ => Ok(t.as_slice::<i32>()?.iter().map(|&v| v.into()).collect()),
    }
}

/// An error unless `t` is a vector.
pub(super) fn vector(what: &str, t: &Tensor) -> Result<()> {
    ensure!(t.rank() == 1, "`{what}` must be a vector but has shape {}", t.shape());
    Ok(())
}

/// An error unless `t` is a scalar.
pub(super) fn scalar(what: &str, t: &Tensor) -> Result<()> {
    ensure!(t.rank() == 0, "`{what}` must be a scalar but has shape {}", t.shape());
    Ok(())
}

/// The element at this place, counted row-major, as a scalar.
pub(super) fn element(t: &Tensor, at: usize) -> Result<Tensor> {
    let plain =
        with_element!(t.dtype(), T => t.as_slice::<T>()?.get(at).map(|&v| Tensor::scalar(v)), else => None);
    plain.map_or_else(|| t.take(Shape::scalar(), &[at]), Ok)
}

/// A tensor without elements.
pub(super) fn empty(dtype: DType, shape: Shape) -> Result<Tensor> {
    Assembler::new(dtype, shape)?.finish()
}

/// `shape` with dimension `at` left out.
pub(super) fn without(shape: &Shape, at: usize) -> Shape {
    Shape::new(shape.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &d)| d))
}

/// `shape` with another dimension `at`.
pub(super) fn replaced(shape: &Shape, at: usize, dim: usize) -> Shape {
    Shape::new(shape.iter().enumerate().map(|(i, &d)| if i == at { dim } else { d }))
}

/// As [`replaced`], of a shape of which less is known.
pub(super) fn dim_replaced(dims: &[Dim], at: usize, dim: Dim) -> PartialShape {
    PartialShape::new(dims.iter().enumerate().map(|(i, &d)| if i == at { dim } else { d }))
}

/// The shape whose dimensions are those of the parts, one after the other.
pub(super) fn joined(parts: &[&[Dim]]) -> PartialShape {
    PartialShape::new(parts.iter().flat_map(|p| p.iter().copied()))
}
