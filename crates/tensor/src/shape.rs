//! Shapes of values ([`Shape`], fully known) and of graph edges ([`PartialShape`], known in part).

use crate::{Result, invalid};
use smallvec::SmallVec;
use std::fmt;
use std::ops::Deref;

/// The largest rank of a shape, as in TensorFlow.
pub const MAX_RANK: usize = 254;

fn check_rank(rank: usize) -> Result<()> {
    match rank <= MAX_RANK {
        true => Ok(()),
        false => Err(invalid!("a shape may have at most {MAX_RANK} dimensions, not {rank}")),
    }
}

/// A fully known shape, outermost dimension first. Derefs to its dimensions.
#[derive(Clone, Eq, Hash, Default)]
#[expect(clippy::derived_hash_with_manual_eq, reason = "equal shapes have equal dimensions")]
pub struct Shape(SmallVec<[usize; 4]>);

impl PartialEq for Shape {
    // Most shapes have one to four dimensions, which a loop compares faster than a call to `memcmp`.
    #[inline]
    fn eq(&self, other: &Shape) -> bool {
        self.len() == other.len() && self.iter().zip(other.iter()).all(|(a, b)| a == b)
    }
}

/// The shape of a scalar.
pub(crate) static SCALAR: Shape = Shape(SmallVec::new_const());

impl Shape {
    /// The shape of a scalar: rank 0.
    pub const fn scalar() -> Shape {
        Shape(SmallVec::new_const())
    }

    /// A shape with these dimensions. Rank and element count are checked only by
    /// [`Shape::checked_elements`], which every tensor's constructor calls.
    pub fn new(dims: impl IntoIterator<Item = usize>) -> Shape {
        Shape(dims.into_iter().collect())
    }

    /// A shape from signed dimensions, as graphs carry them. Refuses negative dimensions, ranks over
    /// [`MAX_RANK`] and element counts over `i64::MAX`.
    pub fn from_signed(dims: &[i64]) -> Result<Shape> {
        check_rank(dims.len())?;
        let shape = dims
            .iter()
            .map(|&d| {
                usize::try_from(d).map_err(
                    |_| invalid!("Dimension {d} must be >= 0"; "dimension {d} of shape {dims:?} is negative"),
                )
            })
            .collect::<Result<SmallVec<_>>>()
            .map(Shape)?;
        shape.checked_elements()?;
        Ok(shape)
    }

    /// The dimensions.
    #[inline]
    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    /// The number of dimensions.
    #[inline]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The number of elements, saturating. The shape of a tensor never saturates.
    #[inline]
    pub fn elements(&self) -> usize {
        self.checked_elements().unwrap_or(usize::MAX)
    }

    /// The number of elements; an error when the rank is over [`MAX_RANK`], or the product of the non-zero
    /// dimensions does not fit in 63 bits.
    #[inline]
    pub fn checked_elements(&self) -> Result<usize> {
        // The product of a few small dimensions cannot overflow.
        if let [d] = self.0.as_slice()
            && *d <= i64::MAX as usize
        {
            return Ok(*d);
        }
        let small = |d: &usize| 0 < *d && *d < 1 << 15;
        if self.0.len() <= 4 && self.0.iter().all(small) {
            return Ok(self.0.iter().product());
        }
        self.checked_product()
    }

    fn checked_product(&self) -> Result<usize> {
        check_rank(self.rank())?;
        // The product leaves out zero dimensions, so that [0, 2^62, 2^62] is refused too.
        let product = self.0.iter().filter(|&&d| d != 0).try_fold(1usize, |n, &d| n.checked_mul(d));
        match product {
            Some(n) if n <= i64::MAX as usize => Ok(if self.0.contains(&0) { 0 } else { n }),
            _ => Err(invalid!("shape {self} has more elements than fit in 63 bits")),
        }
    }

    /// The dimensions as signed numbers.
    pub fn to_signed(&self) -> SmallVec<[i64; 4]> {
        self.0.iter().map(|&d| d as i64).collect()
    }

    /// Row-major strides, in elements.
    pub fn strides(&self) -> SmallVec<[usize; 4]> {
        let mut strides: SmallVec<[usize; 4]> = SmallVec::from_elem(1, self.rank());
        for i in (1..self.rank()).rev() {
            strides[i - 1] = strides[i].saturating_mul(self.0[i]);
        }
        strides
    }

    /// Appends an innermost dimension.
    pub fn push(&mut self, dim: usize) {
        self.0.push(dim);
    }

    /// The dimensions, mutably.
    pub fn dims_mut(&mut self) -> &mut SmallVec<[usize; 4]> {
        &mut self.0
    }

    /// The broadcast of two shapes by NumPy's rule; `None` if they are incompatible.
    pub fn broadcast(&self, other: &Shape) -> Option<Shape> {
        if self == other {
            return Some(self.clone());
        }
        let rank = self.rank().max(other.rank());
        let at = |s: &Shape, i: usize| (i + s.rank()).checked_sub(rank).map_or(1, |j| s.0[j]);
        (0..rank)
            .map(|i| match (at(self, i), at(other, i)) {
                (a, b) if a == b => Some(a),
                (1, b) => Some(b),
                (a, 1) => Some(a),
                _ => None,
            })
            .collect::<Option<SmallVec<_>>>()
            .map(Shape)
    }
}

impl Deref for Shape {
    type Target = [usize];
    #[inline]
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl<const N: usize> From<[usize; N]> for Shape {
    fn from(dims: [usize; N]) -> Self {
        Shape(SmallVec::from_slice(&dims))
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Self {
        Shape(SmallVec::from_slice(dims))
    }
}

impl From<Vec<usize>> for Shape {
    fn from(dims: Vec<usize>) -> Self {
        Shape(dims.into())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[")?;
        for (i, d) in self.0.iter().enumerate() {
            write!(f, "{}{d}", if i == 0 { "" } else { "," })?;
        }
        write!(f, "]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One dimension of a [`PartialShape`]: its size, or `None` if unknown.
pub type Dim = Option<usize>;

/// A shape known in part: not at all (unknown rank), or with a known rank and some known dimensions.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct PartialShape(Option<SmallVec<[Dim; 4]>>);

impl PartialShape {
    /// A shape of unknown rank.
    pub const fn unknown() -> PartialShape {
        PartialShape(None)
    }

    /// A shape of this rank, all of whose dimensions are unknown.
    pub fn unknown_of_rank(rank: usize) -> PartialShape {
        PartialShape(Some(SmallVec::from_elem(None, rank)))
    }

    /// The shape of a scalar: rank 0.
    pub const fn scalar() -> PartialShape {
        PartialShape(Some(SmallVec::new_const()))
    }

    /// A shape of known rank; a dimension that is `None` is unknown.
    pub fn new(dims: impl IntoIterator<Item = Dim>) -> PartialShape {
        PartialShape(Some(dims.into_iter().collect()))
    }

    /// A shape from signed dimensions, in which -1 means unknown.
    pub fn from_signed(dims: &[i64]) -> Result<PartialShape> {
        check_rank(dims.len())?;
        let mut shape = SmallVec::with_capacity(dims.len());
        for &d in dims {
            match d {
                -1 => shape.push(None),
                d => shape.push(Some(
                    usize::try_from(d).map_err(|_| invalid!("dimension {d} is neither -1 nor a size"))?,
                )),
            }
        }
        let known = Shape(shape.iter().flatten().copied().collect());
        known.checked_elements()?;
        Ok(PartialShape(Some(shape)))
    }

    /// Returns an error if the rank is over [`MAX_RANK`].
    pub fn check_rank(&self) -> Result<()> {
        self.rank().map_or(Ok(()), check_rank)
    }

    /// The dimensions, if the rank is known.
    pub fn dims(&self) -> Option<&[Dim]> {
        self.0.as_deref()
    }

    /// The rank, if known.
    pub fn rank(&self) -> Option<usize> {
        self.0.as_ref().map(|d| d.len())
    }

    /// Dimension `i`, if known.
    pub fn dim(&self, i: usize) -> Dim {
        self.0.as_ref().and_then(|d| d.get(i).copied().flatten())
    }

    /// The shape, if all of it is known.
    pub fn full(&self) -> Option<Shape> {
        self.0.as_ref()?.iter().copied().collect::<Option<SmallVec<_>>>().map(Shape)
    }

    /// Whether all of the shape is known.
    pub fn is_full(&self) -> bool {
        self.0.as_ref().is_some_and(|d| d.iter().all(Option::is_some))
    }

    /// The element count, if known.
    pub fn elements(&self) -> Option<usize> {
        self.full()?.checked_elements().ok()
    }

    /// Whether some full shape fits both.
    pub fn is_compatible(&self, other: &PartialShape) -> bool {
        self.merge(other).is_some()
    }

    /// Whether every shape that fits `other` also fits `self` (`self` is no more specific).
    pub fn contains(&self, other: &PartialShape) -> bool {
        match (&self.0, &other.0) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.is_none() || x == y),
        }
    }

    /// Whether `shape` fits this partial shape.
    pub fn admits(&self, shape: &Shape) -> bool {
        self.0.as_ref().is_none_or(|dims| {
            dims.len() == shape.rank()
                && dims.iter().zip(shape.iter()).all(|(d, s)| d.is_none_or(|d| d == *s))
        })
    }

    /// The combined knowledge of both shapes; `None` if they contradict each other.
    pub fn merge(&self, other: &PartialShape) -> Option<PartialShape> {
        match (&self.0, &other.0) {
            (None, _) => Some(other.clone()),
            (_, None) => Some(self.clone()),
            (Some(a), Some(b)) if a.len() == b.len() => a
                .iter()
                .zip(b)
                .map(|(x, y)| match (x, y) {
                    (Some(x), Some(y)) if x != y => None,
                    _ => Some(x.or(*y)),
                })
                .collect::<Option<SmallVec<_>>>()
                .map(|d| PartialShape(Some(d))),
            _ => None,
        }
    }

    /// TensorFlow's message for two shapes that contradict each other; see [`PartialShape::merge`].
    pub fn difference(&self, other: &PartialShape) -> String {
        let (Some(a), Some(b)) = (&self.0, &other.0) else { return "Shapes must be equal".to_owned() };
        if a.len() != b.len() {
            return format!("Shapes must be equal rank, but are {} and {}", a.len(), b.len());
        }
        let differ = |(i, (x, y)): (usize, (&Dim, &Dim))| Some((i, (*x)?, (*y)?)).filter(|(_, x, y)| x != y);
        match a.iter().zip(b).enumerate().find_map(differ) {
            Some((i, x, y)) => format!(
                "Dimension {i} in both shapes must be equal, but are {x} and {y}. Shapes are {self} and {other}."
            ),
            None => format!("Shapes must be equal, but are {self} and {other}"),
        }
    }

    /// TensorFlow's message for dimensions that must be equal, with the first pair that is not.
    pub fn unlike_dims(&self, other: &PartialShape) -> String {
        let (a, b) = (self.0.as_deref().unwrap_or(&[]), other.0.as_deref().unwrap_or(&[]));
        let differ = |(x, y): (&Dim, &Dim)| Some(((*x)?, (*y)?)).filter(|(x, y)| x != y);
        let (x, y) = a.iter().zip(b).find_map(differ).unwrap_or((0, 0));
        unequal(x, y)
    }

    /// The shape as TensorFlow's Python code prints it: `(2, ?)`, `(3,)`, `<unknown>`.
    pub fn as_tuple(&self) -> String {
        let Some(dims) = &self.0 else { return "<unknown>".to_owned() };
        let dims: Vec<_> = dims.iter().map(|d| d.map_or("?".to_owned(), |d| d.to_string())).collect();
        match dims.as_slice() {
            [one] => format!("({one},)"),
            many => format!("({})", many.join(", ")),
        }
    }

    /// TensorFlow's message for a shape whose rank is not `rank`.
    pub fn not_of_rank(&self, rank: usize) -> String {
        format!("Shape must be rank {rank} but is rank {}", self.rank().unwrap_or(0))
    }

    /// TensorFlow's message for a shape whose rank is less than `rank`.
    pub fn below_rank(&self, rank: usize) -> String {
        format!("Shape must be at least rank {rank} but is rank {}", self.rank().unwrap_or(0))
    }

    /// The most specific shape that contains both.
    pub fn join(&self, other: &PartialShape) -> PartialShape {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                PartialShape::new(a.iter().zip(b).map(|(x, y)| if x == y { *x } else { None }))
            }
            _ => PartialShape::unknown(),
        }
    }

    /// TensorFlow's message for two shapes that cannot be broadcast, at graph construction; see
    /// [`PartialShape::broadcast`].
    pub fn no_broadcast(&self, other: &PartialShape) -> String {
        let (a, b) = (self.0.as_deref().unwrap_or(&[]), other.0.as_deref().unwrap_or(&[]));
        let rank = a.len().max(b.len());
        let at = |s: &[Dim], i: usize| (i + s.len()).checked_sub(rank).and_then(|j| s[j]).unwrap_or(1);
        let differ = |i: usize| Some((at(a, i), at(b, i))).filter(|&(x, y)| x != y && x != 1 && y != 1);
        let (x, y) = (0..rank).find_map(differ).unwrap_or((0, 0));
        unequal(x, y)
    }

    /// The broadcast of two shapes, as far as it is known; `None` if they are incompatible.
    pub fn broadcast(&self, other: &PartialShape) -> Option<PartialShape> {
        let (Some(a), Some(b)) = (&self.0, &other.0) else { return Some(PartialShape::unknown()) };
        let rank = a.len().max(b.len());
        let at = |s: &SmallVec<[Dim; 4]>, i: usize| (i + s.len()).checked_sub(rank).map_or(Some(1), |j| s[j]);
        let mut out = SmallVec::with_capacity(rank);
        for i in 0..rank {
            out.push(match (at(a, i), at(b, i)) {
                (Some(x), Some(y)) if x == y => Some(x),
                (Some(1), y) => y,
                (x, Some(1)) => x,
                (Some(_), Some(_)) => return None,
                // A dimension over 1 determines the result: the unknown one must be 1 or equal to it.
                (Some(x), None) | (None, Some(x)) => Some(x),
                (None, None) => None,
            });
        }
        Some(PartialShape(Some(out)))
    }
}

/// TensorFlow's message for two dimensions that must be equal.
pub fn unequal(x: usize, y: usize) -> String {
    format!("Dimensions must be equal, but are {x} and {y}")
}

impl From<Shape> for PartialShape {
    fn from(shape: Shape) -> Self {
        PartialShape::new(shape.iter().map(|&d| Some(d)))
    }
}

impl From<&Shape> for PartialShape {
    fn from(shape: &Shape) -> Self {
        PartialShape::new(shape.iter().map(|&d| Some(d)))
    }
}

impl<const N: usize> From<[usize; N]> for PartialShape {
    fn from(dims: [usize; N]) -> Self {
        PartialShape::new(dims.map(Some))
    }
}

impl<const N: usize> From<[Dim; N]> for PartialShape {
    fn from(dims: [Dim; N]) -> Self {
        PartialShape::new(dims)
    }
}

impl From<&[usize]> for PartialShape {
    fn from(dims: &[usize]) -> Self {
        PartialShape::new(dims.iter().map(|&d| Some(d)))
    }
}

impl fmt::Display for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(dims) = &self.0 else { return f.write_str("[..]") };
        write!(f, "[")?;
        for (i, d) in dims.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            match d {
                Some(d) => write!(f, "{comma}{d}")?,
                None => write!(f, "{comma}?")?,
            }
        }
        write!(f, "]")
    }
}

impl fmt::Debug for PartialShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A partial shape: `shape![2, _]`, `shape![]`; `_` is an unknown dimension.
#[macro_export]
macro_rules! shape {
    (@dim _) => { None };
    (@dim $d:expr) => { Some($d as usize) };
    ($($d:tt),* $(,)?) => { $crate::PartialShape::new([$($crate::shape!(@dim $d)),*] as [Option<usize>; _]) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Assembler, DType, Tensor};

    #[test]
    fn no_tensor_has_a_higher_rank() {
        let deepest = Shape::new([1; MAX_RANK]);
        let beyond = Shape::new([1; MAX_RANK + 1]);
        assert_eq!(deepest.checked_elements().unwrap(), 1);
        let t = Tensor::zeros(DType::F32, deepest.clone()).unwrap();
        assert_eq!(format!("{t:#}").len(), "f32".len() + format!("{deepest}").len() + 2 * MAX_RANK + 2);
        let of = |made: Result<Tensor>| made.unwrap_err().to_string();
        for error in [
            of(Tensor::zeros(DType::F32, beyond.clone())),
            of(Tensor::zeros(DType::Str, beyond.clone())),
            of(Tensor::anything(DType::F32, beyond.clone())),
            of(Tensor::from_slice(beyond.clone(), &[1f32])),
            of(Tensor::from_iter(beyond.clone(), [1f32])),
            of(Tensor::strings(beyond.clone(), vec!["".into()])),
            of(Tensor::fill(beyond.clone(), &Tensor::scalar(1f32))),
            of(Assembler::new(DType::F32, beyond.clone()).and_then(Assembler::finish)),
            of(t.reshape(beyond.clone())),
            of(t.clone().into_shape(beyond.clone())),
            of(t.broadcast_to(beyond.clone())),
            of(t.strided(beyond.clone(), 0, &[0; MAX_RANK + 1])),
            of(t.take(beyond.clone(), &[0])),
        ] {
            assert!(error.contains("at most 254 dimensions, not 255"), "{error}");
        }
        let error = PartialShape::unknown_of_rank(255).check_rank().unwrap_err().to_string();
        assert!(error.contains("at most 254 dimensions, not 255"), "{error}");
        assert!(PartialShape::unknown().check_rank().is_ok());
    }
}
