//! What the decompositions into eigenvalues and singular values share. The decompositions themselves are
//! those of the crate `faer`, on one thread. Nothing interrupts them, so that of a large matrix goes on
//! [apart](millstream_state::apart()).

use super::factor::Entry;
pub(super) use super::factor::SPECTRAL_COST;
use crate::shared::elementwise::fresh;
use faer::MatRef;
use faer::traits::ComplexField;
use millstream_graph::Output;
use millstream_graph::op::GradCx;
use millstream_state::apart;
use millstream_tensor::budget::Room;
use millstream_tensor::{C64, C128, Result, Tensor};
use smallvec::SmallVec;

/// An element type whose matrices can be decomposed.
pub(super) trait Spectral: Entry + ComplexField {
    /// A singular value or eigenvalue, which is real, as an element.
    fn real_value(real: <Self as ComplexField>::Real) -> Self;
    /// Whether all parts are finite.
    fn finite(self) -> bool;
}

macro_rules! spectral {
    ($($t:ty: $of:expr, $finite:expr;)*) => { $(
        impl Spectral for $t {
            fn real_value(real: <Self as ComplexField>::Real) -> Self { $of(real) }
            fn finite(self) -> bool { $finite(self) }
        }
    )* };
}
spectral! {
    f32: |v| v, f32::is_finite;
    f64: |v| v, f64::is_finite;
    C64: |v| C64::new(v, 0.0), |v: C64| v.re.is_finite() && v.im.is_finite();
    C128: |v| C128::new(v, 0.0), |v: C128| v.re.is_finite() && v.im.is_finite();
}

pub(super) fn all_finite<T: Spectral>(cells: &[T]) -> bool {
    cells.iter().all(|v| v.finite())
}

/// Whether a decomposition may take more than a few milliseconds: 160 rows and columns.
pub(super) fn is_long(m: usize, n: usize) -> bool {
    const SHORT: usize = 1 << 22;
    SHORT < m.saturating_mul(n).saturating_mul(m.min(n))
}

/// Calls `work` [apart], with as many zeros for each of `to`, and copies what it made of them there.
/// `scratch`: the bytes that it works with.
pub(super) fn fill_apart<T: Spectral>(
    scratch: usize,
    to: &mut [&mut [T]],
    work: impl FnOnce(&mut [&mut [T]]) -> Result<()> + Send + 'static,
) -> Result<()> {
    let sizes: SmallVec<[usize; 3]> = to.iter().map(|to| to.len()).collect();
    let found = apart(move || {
        let _room = Room::of(scratch)?;
        let zeros = sizes.iter().map(|&n| Tensor::zeros(T::DTYPE, [n]));
        let mut found = zeros.collect::<Result<SmallVec<[Tensor; 3]>>>()?;
        let parts = found.iter_mut().map(fresh::<T>);
        work(&mut parts.collect::<Result<SmallVec<[&mut [T]; 3]>>>()?)?;
        Ok(found)
    })?;
    for (to, found) in to.iter_mut().zip(&found) {
        to.copy_from_slice(found.as_slice::<T>()?);
    }
    Ok(())
}

/// Copies a matrix into rows.
pub(super) fn columns<T: Spectral>(from: MatRef<'_, T>, to: &mut [T]) {
    let n = from.ncols();
    for (i, row) in to.chunks_exact_mut(n.max(1)).enumerate() {
        row.iter_mut().enumerate().for_each(|(j, to)| *to = from[(i, j)]);
    }
}

/// Returns `1 / (x_j - x_i)` at row `i` and column `j`, and zeros on the diagonal.
pub(super) fn inverse_gaps<'g>(cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
    let row = cx.op("ExpandDims").input(x).input(-2).output();
    let column = cx.op("ExpandDims").input(x).input(-1).output();
    let inverse = cx.call("Reciprocal", [row - column]);
    cx.call("MatrixSetDiag", [inverse, cx.zeros_like(x)])
}

/// Returns a matrix with each column multiplied by a number.
pub(super) fn scaled_columns<'g>(cx: &GradCx<'g, '_>, x: Output<'g>, by: Output<'g>) -> Output<'g> {
    x * cx.op("ExpandDims").input(by).input(-2).output()
}
