//! Factorisation and solution of linear systems: [`Lu`], the factors of a square matrix, and [`substitute`].

use crate::number::{Field, Lane, Pairs};
use millstream_graph::op::Cost;
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::Pace;
use millstream_tensor::{C64, C128, Error, Result, Shape, Tensor, invalid};

/// The cost of factoring the matrices of input 0 or of solving by them: about a nanosecond for each element
/// and row.
pub(super) const COST: Cost = Cost::Estimate(|_, inputs| {
    let Some(x) = inputs.first() else { return 0.0 };
    x.elements() as f64 * x.shape().last().copied().unwrap_or(1) as f64
});

/// The cost of a decomposition: some ten nanoseconds for each element and row.
pub(super) const SPECTRAL_COST: Cost = Cost::Estimate(|_, inputs| {
    let Some(x) = inputs.first() else { return 0.0 };
    10.0 * x.elements() as f64 * x.shape().last().copied().unwrap_or(1) as f64
});

/// An element type for which linear systems can be solved.
pub(super) trait Entry: Lane + Field {
    /// The absolute value, with which pivots are compared.
    fn far(self) -> f64;
    /// A real number as an element.
    fn real(v: f64) -> Self;
    /// The real part.
    fn part(self) -> f64;
}

macro_rules! entries {
    ($($t:ty: $far:expr, $part:expr;)*) => { $(
        impl Entry for $t {
            fn far(self) -> f64 { $far(self) }
            fn real(v: f64) -> Self { Field::lit(v) }
            fn part(self) -> f64 { $part(self) }
        }
    )* };
}
entries! {
    f32: |v: f32| v.abs().into(), f64::from;
    f64: |v: f64| v.abs(), |v| v;
    C64: |v: C64| v.size().into(), |v: C64| v.re.into();
    C128: |v: C128| v.size(), |v: C128| v.re;
}

/// The dtypes in the declarations.
pub(super) const TYPES: &[millstream_tensor::DType] = {
    use millstream_tensor::DType::*;
    &[F64, F32, F16, C64, C128]
};

/// Returns a shape as a batch of square matrices: the outer dimensions and the size.
pub(super) fn square<'a>(name: &str, shape: &'a Shape) -> Result<(&'a [usize], usize)> {
    match shape.dims() {
        [batch @ .., n, m] if n == m => Ok((batch, *n)),
        dims @ ([] | [_]) => Err(invalid!(
            "Input tensor 0 must have rank >= 2, got {}",
            dims.len();
            "Input matrix must be square: `{name}` must hold square matrices but has shape {shape}"
        )),
        _ => Err(
            invalid!("Input matrix must be square."; "`{name}` must hold square matrices but has shape {shape}"),
        ),
    }
}

/// The LU decomposition with row exchanges: a lower triangular matrix with ones on its diagonal and an upper
/// triangular one, stored in one matrix.
pub(super) struct Lu<T> {
    n: usize,
    cells: Charged<T>,
    /// The row of the original matrix that each row comes from.
    rows: Vec<usize>,
    /// True if the number of row exchanges is odd.
    odd: bool,
}

impl<T: Entry> Lu<T> {
    /// Factors an `n` by `n` matrix, with partial pivoting.
    pub fn new(matrix: &[T], n: usize) -> Result<Lu<T>> {
        let mut lu = Lu { n, cells: Charged::copy_of(matrix)?, rows: (0..n).collect(), odd: false };
        let mut pace = Pace::new();
        for k in 0..n {
            let best =
                (k..n).fold(k, |best, i| if lu.at(i, k).far() > lu.at(best, k).far() { i } else { best });
            if best != k {
                (0..n).for_each(|j| lu.cells.swap(best * n + j, k * n + j));
                lu.rows.swap(best, k);
                lu.odd = !lu.odd;
            }
            let pivot = lu.at(k, k);
            if pivot.far() == 0.0 {
                continue;
            }
            let (above, below) = lu.cells.split_at_mut((k + 1) * n);
            let upper = &above[k * n..];
            for row in below.chunks_exact_mut(n) {
                pace.spend(n - k)?;
                let factor = row[k].div(pivot);
                row[k] = factor;
                row[k + 1..].iter_mut().zip(&upper[k + 1..]).for_each(|(x, u)| *x = x.sub(factor.mul(*u)));
            }
        }
        Ok(lu)
    }

    fn at(&self, i: usize, j: usize) -> T {
        self.cells[i * self.n + j]
    }

    /// Returns both factors in one matrix.
    pub fn cells(&self) -> &[T] {
        &self.cells
    }

    /// Returns the row of the original matrix that each row of the factors' product is.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Returns the diagonal of the upper factor. Its product is the determinant, up to the sign.
    pub fn pivots(&self) -> impl Iterator<Item = T> {
        (0..self.n).map(|i| self.at(i, i))
    }

    /// Returns whether the determinant has the opposite sign of the product of the pivots.
    pub fn is_odd(&self) -> bool {
        self.odd
    }

    /// Solves for the `m` columns of `rhs`. Returns an error if the matrix is not invertible.
    pub fn solve(&self, rhs: &[T], m: usize) -> Result<Vec<T>> {
        if self.pivots().any(|p| p.far() == 0.0) {
            return Err(singular());
        }
        let mut out: Vec<T> = self.rows.iter().flat_map(|&i| &rhs[i * m..(i + 1) * m]).copied().collect();
        let (n, at) = (self.n, |i: usize, j: usize| if i == j { T::int(1) } else { self.at(i, j) });
        substitute(n, m, true, at, &mut out)?;
        substitute(n, m, false, |i, j| self.at(i, j), &mut out)?;
        Ok(out)
    }
}

pub(super) fn singular() -> Error {
    invalid!("Input is not invertible."; "the matrix cannot be inverted: a pivot is zero")
}

/// Solves a triangular system in place, from the top if it is lower triangular, else from the bottom. No
/// pivot may be zero.
pub(super) fn substitute<T: Entry>(
    n: usize,
    m: usize,
    lower: bool,
    at: impl Fn(usize, usize) -> T,
    out: &mut [T],
) -> Result<()> {
    let mut pace = Pace::new();
    for step in 0..n {
        let i = if lower { step } else { n - 1 - step };
        for s in 0..step {
            let j = if lower { s } else { n - 1 - s };
            let factor = at(i, j);
            pace.spend(m)?;
            for c in 0..m {
                out[i * m + c] = out[i * m + c].sub(factor.mul(out[j * m + c]));
            }
        }
        let pivot = at(i, i);
        out[i * m..(i + 1) * m].iter_mut().for_each(|x| *x = x.div(pivot));
    }
    Ok(())
}

/// Returns the conjugate transpose of an `n` by `n` matrix.
pub(super) fn adjoint<T: Entry>(matrix: &[T], n: usize) -> Vec<T> {
    (0..n * n).map(|i| matrix[(i % n) * n + i / n].conj()).collect()
}

/// Returns a tensor of shape `shape` whose parts are `f` of each matrix in a batch of `n` by `n` matrices.
pub(super) fn each_matrix<T: Entry>(
    input: &Tensor,
    n: usize,
    shape: Shape,
    mut f: impl FnMut(usize, &[T]) -> Result<Vec<T>>,
) -> Result<Tensor> {
    let mut out = Tensor::zeros(T::DTYPE, shape)?;
    let count = if n == 0 { 0 } else { input.elements() / (n * n) };
    if out.elements() == 0 || count == 0 {
        return Ok(out);
    }
    let part = out.elements() / count;
    // What `f` returns for one matrix, and the adjoint that it may need.
    let _room = Room::of((part + n * n) * size_of::<T>())?;
    let cells = crate::shared::elementwise::fresh::<T>(&mut out)?.chunks_exact_mut(part);
    for (i, (out, matrix)) in cells.zip(input.as_slice::<T>()?.chunks_exact(n * n)).enumerate() {
        out.copy_from_slice(&f(i, matrix)?);
    }
    Ok(out)
}
