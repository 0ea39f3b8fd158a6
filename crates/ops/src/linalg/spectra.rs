//! What the decompositions into eigenvalues and singular values share. The decompositions themselves are
//! those of the crate `faer`, on one thread.

use super::factor::Entry;
use faer::MatRef;
use faer::traits::ComplexField;
use millstream_graph::Output;
use millstream_graph::op::{Cost, GradCx};
use millstream_tensor::{C64, C128};

/// The cost of a decomposition: some ten nanoseconds for each element and row.
pub(super) const SPECTRAL_COST: Cost = Cost::Estimate(|_, inputs| {
    let Some(x) = inputs.first() else { return 0.0 };
    10.0 * x.elements() as f64 * x.shape().last().copied().unwrap_or(1) as f64
});

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
