//! The Schur form of a complex matrix, and functions of matrices computed with it.

use super::factor::substitute;
use super::matrices::adjoint;
use crate::number::no_kernel;
use crate::shared::casting::cast;
use millstream_graph::Output;
use millstream_graph::op::{GradCx, KernelCx};
use millstream_tensor::budget::{Charged, Room};
use millstream_tensor::pace::Pace;
use millstream_tensor::{C128, DType, Result, Tensor, invalid};

/// `A = U T Uᴴ` with an upper triangular `t` and a unitary `u`, both `n` by `n`.
pub(super) struct Schur {
    n: usize,
    t: Charged<C128>,
    u: Charged<C128>,
}

/// A rotation of two rows (or columns) into each other.
#[derive(Clone, Copy)]
struct Turn {
    c: C128,
    s: C128,
}

impl Turn {
    /// The rotation that turns `(a, b)` into a vector whose second entry is zero.
    fn to_first(a: C128, b: C128) -> Option<Turn> {
        let size = a.norm().hypot(b.norm());
        (size > 0.0).then(|| Turn { c: a / size, s: b / size })
    }
}

impl Schur {
    /// Decomposes a finite matrix: rotations make it a Hessenberg matrix, and QR steps with Wilkinson's
    /// shifts make that triangular.
    pub fn of(matrix: &[C128], n: usize) -> Result<Schur> {
        let mut u = Charged::copy_of(matrix)?;
        u.iter_mut().enumerate().for_each(|(i, x)| *x = C128::new(f64::from(i % (n + 1) == 0), 0.0));
        let (mut all, mut pace) = (Schur { n, t: Charged::copy_of(matrix)?, u }, Pace::new());
        for k in 0..n.saturating_sub(2) {
            for i in (k + 2..n).rev() {
                pace.spend(3 * n)?;
                all.turn(i - 1, Turn::to_first(all.at(i - 1, k), all.at(i, k)), n);
                all.t[i * n + k] = C128::new(0.0, 0.0);
            }
        }
        let (mut last, mut steps) = (n.saturating_sub(1), 0);
        while last > 0 {
            let first = (1..=last).rev().find(|&i| all.is_split(i)).unwrap_or(0);
            if first > 0 {
                all.t[first * n + first - 1] = C128::new(0.0, 0.0);
            }
            if first == last {
                (last, steps) = (last - 1, 0);
                continue;
            }
            steps += 1;
            if steps > 300 {
                return Err(invalid!("the QR iteration for the eigenvalues of a matrix did not converge"));
            }
            all.step(first, last, steps, &mut pace)?;
        }
        Ok(all)
    }

    fn at(&self, i: usize, j: usize) -> C128 {
        self.t[i * self.n + j]
    }

    /// Whether the entry left of the diagonal in row `i` is negligible.
    fn is_split(&self, i: usize) -> bool {
        let around = self.at(i - 1, i - 1).norm() + self.at(i, i).norm();
        self.at(i, i - 1).norm() <= f64::EPSILON * around.max(f64::MIN_POSITIVE)
    }

    /// Turns rows `i` and `i + 1` of the triangle and the same columns, the columns down to row `end`.
    fn turn(&mut self, i: usize, turn: Option<Turn>, end: usize) {
        let (n, Some(turn)) = (self.n, turn) else { return };
        self.turn_rows(i, turn);
        self.turn_columns(i, turn, end.min(n));
    }

    fn turn_rows(&mut self, i: usize, Turn { c, s }: Turn) {
        for j in 0..self.n {
            let (x, y) = (self.at(i, j), self.at(i + 1, j));
            self.t[i * self.n + j] = c.conj() * x + s.conj() * y;
            self.t[(i + 1) * self.n + j] = c * y - s * x;
        }
    }

    fn turn_columns(&mut self, i: usize, Turn { c, s }: Turn, end: usize) {
        let n = self.n;
        for (matrix, rows) in [(&mut self.t, end), (&mut self.u, n)] {
            for row in matrix.chunks_exact_mut(n).take(rows) {
                let (x, y) = (row[i], row[i + 1]);
                row[i] = x * c + y * s;
                row[i + 1] = y * c.conj() - x * s.conj();
            }
        }
    }

    /// One QR step of the block of rows `first..=last`.
    fn step(&mut self, first: usize, last: usize, steps: usize, pace: &mut Pace) -> Result<()> {
        let n = self.n;
        let shift = match steps % 10 {
            // A shift out of order leaves a cycle.
            0 => self.at(last, last) + C128::new(self.at(last, last - 1).norm(), 0.0),
            _ => self.shift(last),
        };
        (first..=last).for_each(|i| self.t[i * n + i] -= shift);
        let mut turns = Charged::new();
        for i in first..last {
            pace.spend(3 * n)?;
            let turn = Turn::to_first(self.at(i, i), self.at(i + 1, i));
            if let Some(turn) = turn {
                self.turn_rows(i, turn);
                self.t[(i + 1) * n + i] = C128::new(0.0, 0.0);
            }
            turns.push(turn)?;
        }
        for (i, turn) in (first..last).zip(turns.iter()) {
            pace.spend(3 * n)?;
            if let Some(turn) = turn {
                self.turn_columns(i, *turn, i + 2);
            }
        }
        (first..=last).for_each(|i| self.t[i * n + i] += shift);
        Ok(())
    }

    /// The eigenvalue of the 2 by 2 block that ends in row `last` that is nearer to its last entry.
    fn shift(&self, last: usize) -> C128 {
        let [a, b, c, d] = [(1, 1), (1, 0), (0, 1), (0, 0)].map(|(i, j)| self.at(last - i, last - j));
        let half = (a - d) * 0.5;
        let root = (half * half + b * c).sqrt();
        let middle = (a + d) * 0.5;
        let (x, y) = (middle + root, middle - root);
        if (x - d).norm() <= (y - d).norm() { x } else { y }
    }

    pub fn eigenvalues(&self) -> impl Iterator<Item = C128> {
        (0..self.n).map(|i| self.at(i, i))
    }

    /// The upper triangular matrix, without rounding errors below its diagonal.
    pub fn triangle(&self) -> Result<Charged<C128>> {
        let mut t = Charged::copy_of(&self.t)?;
        for (i, row) in t.chunks_exact_mut(self.n.max(1)).enumerate() {
            row[..i].fill(C128::new(0.0, 0.0));
        }
        Ok(t)
    }

    /// Returns `U f Uᴴ`.
    pub fn back(&self, f: &[C128]) -> Result<Vec<C128>> {
        let (n, mut pace) = (self.n, Pace::new());
        let product = |x: &[C128], y: &dyn Fn(usize, usize) -> C128, out: &mut [C128], pace: &mut Pace| {
            for (x, out) in x.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
                for (j, out) in out.iter_mut().enumerate() {
                    pace.spend(n)?;
                    *out = x.iter().enumerate().fold(C128::new(0.0, 0.0), |sum, (k, x)| sum + *x * y(k, j));
                }
            }
            Ok::<(), millstream_tensor::Error>(())
        };
        let mut middle = Charged::copy_of(f)?;
        product(&self.u, &|k, j| f[k * n + j], &mut middle, &mut pace)?;
        let mut out = f.to_vec();
        product(&middle, &|k, j| self.u[j * n + k].conj(), &mut out, &mut pace)?;
        Ok(out)
    }
}

/// Returns the square root of an upper triangular matrix (Björck and Hammarling 1983).
pub(super) fn triangle_root(t: &[C128], n: usize) -> Result<Charged<C128>> {
    let (mut r, mut pace) = (Charged::copy_of(t)?, Pace::new());
    for j in 0..n {
        r[j * n + j] = t[j * n + j].sqrt();
        for i in (0..j).rev() {
            pace.spend(j - i)?;
            let rest = (i + 1..j).fold(t[i * n + j], |rest, k| rest - r[i * n + k] * r[k * n + j]);
            r[i * n + j] = rest / (r[i * n + i] + r[j * n + j]);
        }
    }
    Ok(r)
}

/// Returns the logarithm of an upper triangular matrix by inverse scaling and squaring (Higham, "Functions
/// of Matrices", 2008, algorithm 11.9): square roots until it is near one, then a Padé approximant, as the
/// sum of a rule of Gauss and Legendre.
pub(super) fn triangle_log(t: &[C128], n: usize) -> Result<Charged<C128>> {
    let (mut near, mut doublings) = (Charged::copy_of(t)?, 0i32);
    let far = |x: &[C128]| {
        let of = |j: usize| (0..n).map(|i: usize| (x[i * n + j] - f64::from(i == j)).norm()).sum::<f64>();
        (0..n).map(of).fold(0.0, f64::max)
    };
    while far(&near) > 0.26 && doublings < 100 {
        near = triangle_root(&near, n)?;
        doublings += 1;
    }
    let diagonal = |x: &mut [C128], by: f64| (0..n).for_each(|i| x[i * n + i] += by);
    diagonal(&mut near, -1.0);
    let (mut out, mut term) = (Charged::copy_of(t)?, Charged::copy_of(t)?);
    out.fill(C128::new(0.0, 0.0));
    for (node, weight) in RULE {
        term.copy_from_slice(&near);
        let of_one = |i: usize, j: usize| near[i * n + j] * node + f64::from(i == j);
        substitute(n, n, false, of_one, &mut term)?;
        out.iter_mut().zip(term.iter()).for_each(|(out, term)| *out += *term * weight);
    }
    let scale = f64::from(doublings).exp2();
    out.iter_mut().for_each(|x| *x *= scale);
    (0..n).for_each(|i| out[i * n + i] = t[i * n + i].ln());
    Ok(out)
}

/// The nodes and weights of Gauss and Legendre for the interval from 0 to 1.
const RULE: [(f64, f64); 7] = [
    (0.025_446_043_828_620_757, 0.064_742_483_084_435_32),
    (0.129_234_407_200_302_77, 0.139_852_695_744_638_3),
    (0.297_077_424_311_301_4, 0.190_915_025_252_559_16),
    (0.5, 0.208_979_591_836_734_48),
    (0.702_922_575_688_698_5, 0.190_915_025_252_559_16),
    (0.870_765_592_799_697_2, 0.139_852_695_744_638_3),
    (0.974_553_956_171_379_2, 0.064_742_483_084_435_32),
];

/// Sets output 0 to a function of each matrix of input 0, computed in complex numbers of 64 bits. A matrix
/// that is not finite has a function of NaN.
pub(super) fn each(cx: &mut KernelCx, f: impl Fn(&[C128], usize) -> Result<Vec<C128>>) -> Result<()> {
    let (_, n) = super::factor::square("input", cx.input(0).shape())?;
    let dtype = cx.input(0).dtype();
    if dtype == DType::F16 {
        return Err(no_kernel(cx.node.op.name, dtype));
    }
    let wide = cast(cx.input(0), DType::C128)?;
    // Copies of a matrix in `Charged` are counted by themselves.
    let _room = Room::of(n.saturating_mul(n).saturating_mul(size_of::<C128>()))?;
    let out: Tensor = super::factor::each_matrix::<C128>(&wide, n, wide.shape().clone(), |_, matrix| {
        match matrix.iter().all(|x| x.is_finite()) {
            true => f(matrix, n),
            false => Ok(vec![NAN; n * n]),
        }
    })?;
    cx.set(0, cast(&out, dtype)?);
    Ok(())
}

pub(super) const NAN: C128 = C128::new(f64::NAN, f64::NAN);

/// The gradient of a function of matrices: the upper right block of the function of `[[Aᴴ, dy], [0, Aᴴ]]`
/// (Mathias 1996).
pub(super) fn grad<'g>(cx: &mut GradCx<'g, '_>, function: &'static str) -> Result<()> {
    let (dy, a) = (cx.grad(0), cx.input(0));
    let a = adjoint(cx, a);
    let rows =
        |left: Output<'g>, right: Output<'g>| cx.op("ConcatV2").inputs([left, right]).input(-1).output();
    let (top, bottom) = (rows(a, dy), rows(cx.zeros_like(a), a));
    let whole = cx.op("ConcatV2").inputs([top, bottom]).input(-2).output();
    let of_whole = cx.call(function, [whole]);
    let half =
        |x: Output<'g>, axis: i32| cx.op("Split").input(axis).input(x).attr("num_split", 2i64).finish();
    let upper = half(of_whole, -2).output(0);
    let da = half(upper, -1).output(1);
    cx.give(0, da);
    Ok(())
}
