//! What `TridiagonalMatMul` and `TridiagonalSolve` share. Row `i` of a tridiagonal matrix holds the
//! elements `i` of its diagonals: the superdiagonal right of the main diagonal, the subdiagonal left of it.
//! The last element of the superdiagonal and the first of the subdiagonal are beyond the matrix.

use millstream_graph::Output;
use millstream_graph::op::GradCx;
use millstream_tensor::DType;

/// The dtypes.
pub(super) const TYPES: &[DType] = &[DType::F64, DType::F32, DType::C64, DType::C128];

/// Three diagonals, each of shape `[.., 1, M]`.
pub(super) struct Diagonals<'g> {
    pub over: Output<'g>,
    pub main: Output<'g>,
    pub under: Output<'g>,
}

impl<'g> Diagonals<'g> {
    /// The diagonals of the adjoint.
    pub fn adjoint(&self, cx: &GradCx<'g, '_>) -> Diagonals<'g> {
        // What comes in at an end is beyond the matrix.
        let moved = |x: Output<'g>, by: i32| cx.conj(cx.op("Roll").input(x).input(by).input(-1).output());
        Diagonals { over: moved(self.under, -1), main: cx.conj(self.main), under: moved(self.over, 1) }
    }

    pub fn product(&self, cx: &GradCx<'g, '_>, x: Output<'g>) -> Output<'g> {
        cx.call("TridiagonalMatMul", [self.over, self.main, self.under, x])
    }

    /// The gradients of the diagonals of a matrix whose product with `x` has the gradient `dy`.
    pub fn grads(&self, cx: &GradCx<'g, '_>, dy: Output<'g>, x: Output<'g>) -> Diagonals<'g> {
        let zeros = cx.zeros_like(self.main);
        let ones = cx.call("OnesLike", [self.main]);
        let along = |x: Output<'g>| {
            let sums = cx.call("Sum", [dy * cx.conj(x), cx.ints(&[-1])]);
            cx.op("ExpandDims").input(sums).input(-2).output()
        };
        let next = Diagonals { over: ones, main: zeros, under: zeros };
        let previous = Diagonals { over: zeros, main: zeros, under: ones };
        Diagonals { over: along(next.product(cx, x)), main: along(x), under: along(previous.product(cx, x)) }
    }
}
