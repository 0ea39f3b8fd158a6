//! Matrix products: [`Matrix`] is a strided view, and [`Product::multiply`] fills a row-major result.
//!
//! Products of floats and complex numbers are computed by `gemm`, unless they are small, or f32 with few
//! rows. Half-precision floats are computed in f32, and integers by a plain loop. The choice depends on dtype
//! and sizes alone, and the number of threads never changes the order in which an element is summed, so the
//! bits of a product do not depend on threads. The only `unsafe` code of this crate is here: the call of
//! `gemm`, which takes pointers.
#![expect(unsafe_code, reason = "gemm takes pointers")]

mod few_rows;

use crate::number::Number;
use millstream_graph::op::StepHost;
use millstream_tensor::pace::{Pace, look};
use millstream_tensor::{C64, C128, DType, Element, Error, Result, Tensor, bf16, ensure, f16};
use std::ops::Range;

/// A matrix in a slice: element `(i, j)` is `data[i * row_stride + j * col_stride]`, conjugated if `conj`.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a, T> {
    data: &'a [T],
    pub rows: usize,
    pub cols: usize,
    row_stride: usize,
    col_stride: usize,
    conj: bool,
}

impl<'a, T: Element> Matrix<'a, T> {
    /// Returns a row-major matrix, or an error unless `data` has `rows * cols` elements.
    pub fn new(data: &'a [T], rows: usize, cols: usize) -> Result<Self> {
        ensure!(
            rows.checked_mul(cols) == Some(data.len()),
            "{} elements do not make a {rows} by {cols} matrix",
            data.len()
        );
        Ok(Matrix { data, rows, cols, row_stride: cols, col_stride: 1, conj: false })
    }

    /// Returns the transpose if `yes`, else the matrix itself.
    pub fn transposed(self, yes: bool) -> Self {
        if !yes {
            return self;
        }
        Matrix {
            rows: self.cols,
            cols: self.rows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
            ..self
        }
    }

    /// Returns the conjugate transpose if `yes`, else the matrix itself.
    pub fn adjoint(self, yes: bool) -> Self {
        Matrix { conj: self.conj != yes, ..self }.transposed(yes)
    }

    /// Returns the matrix of these rows and columns, of which there is at least one each.
    fn part(self, row: usize, rows: usize, col: usize, cols: usize) -> Self {
        assert!(rows > 0 && cols > 0 && row + rows <= self.rows && col + cols <= self.cols, "no such part");
        let data = &self.data[row * self.row_stride + col * self.col_stride..];
        Matrix { data, rows, cols, ..self }
    }

    /// These columns, of which there is at least one. `None` if they are not next to each other in memory.
    fn columns(self, columns: Range<usize>) -> Option<Self> {
        let suits = self.col_stride == 1 && self.rows > 0 && !columns.is_empty() && columns.end <= self.cols;
        suits.then(|| self.part(0, self.rows, columns.start, columns.len()))
    }

    /// The transpose of a matrix whose columns are contiguous, as a tensor.
    fn turned(self) -> Result<Tensor> {
        Tensor::transpose_of(self.data, [self.cols, self.rows], self.col_stride)
    }

    fn with_data<U>(self, data: &[U]) -> Matrix<'_, U> {
        let Matrix { rows, cols, row_stride, col_stride, conj, .. } = self;
        Matrix { data, rows, cols, row_stride, col_stride, conj }
    }
}

/// An element type with matrix products.
pub(crate) trait Product: Number {
    /// Computes `out = a * b`, row-major. The previous contents of `out` are ignored.
    fn multiply(host: &dyn StepHost, a: Matrix<Self>, b: Matrix<Self>, out: &mut [Self]) -> Result<()>;

    /// Computes `out += a * b`, with the bits of adding the finished product. Returns false, without having
    /// changed anything, if that takes a product on its own.
    fn accumulate(host: &dyn StepHost, a: Matrix<Self>, b: Matrix<Self>, out: &mut [Self]) -> Result<bool> {
        let _ = (host, a, b, out);
        Ok(false)
    }

    /// Computes these columns of `a * b`, with the bits that they have in the whole product. Returns false,
    /// without having changed anything, if that takes the whole product.
    fn multiply_columns(
        host: &dyn StepHost,
        a: Matrix<Self>,
        b: Matrix<Self>,
        columns: Range<usize>,
        out: &mut [Self],
    ) -> Result<bool> {
        let _ = (host, a, b, columns, out);
        Ok(false)
    }
}

fn check<T: Element>(a: &Matrix<T>, b: &Matrix<T>, out: &[T]) -> Result<()> {
    ensure!(
        a.cols == b.rows && a.rows.checked_mul(b.cols) == Some(out.len()),
        "a {} by {} matrix times a {} by {} matrix does not give {} elements",
        a.rows,
        a.cols,
        b.rows,
        b.cols,
        out.len()
    );
    Ok(())
}

/// The number of multiplications up to which a plain loop computes a product. For such sizes, gemm's set-up
/// and packing cost more than its kernels gain (f32, 16 by 16 by 16: see `benches/matmul.rs`).
const SMALL: usize = 16 * 16 * 8;

/// Computes the product by plain loops, row by row. Each element sums its terms in order.
fn plain<T: Number>(a: Matrix<T>, b: Matrix<T>, out: &mut [T]) -> Result<()> {
    let pick = |conj: bool, v: T| if conj { v.conj() } else { v };
    out.fill(T::ZERO);
    if a.cols == 0 || b.cols == 0 {
        return Ok(());
    }
    let mut pace = Pace::new();
    for (i, row) in out.chunks_exact_mut(b.cols).enumerate() {
        for k in 0..a.cols {
            pace.spend(b.cols)?;
            let x = pick(a.conj, a.data[i * a.row_stride + k * a.col_stride]);
            let from = &b.data[k * b.row_stride..];
            if b.col_stride == 1 && !b.conj {
                for (o, &y) in row.iter_mut().zip(from) {
                    *o = o.add(x.mul(y));
                }
            } else {
                for (o, &y) in row.iter_mut().zip(from.iter().step_by(b.col_stride.max(1))) {
                    *o = o.add(x.mul(pick(b.conj, y)));
                }
            }
        }
    }
    Ok(())
}

/// Returns the number of threads for a product. With few rows or columns, each thread would spend as much
/// time on packing as on multiplying.
fn threads(host: &dyn StepHost, m: usize, k: usize, n: usize) -> usize {
    const WORTH: f64 = 4e6;
    let work = m as f64 * k as f64 * n as f64;
    if m.min(n) < 32 || work < 2.0 * WORTH { 1 } else { host.threads().clamp(1, (work / WORTH) as usize) }
}

/// The sizes of the blocks in which a product is computed, so that one takes less than 100 ms: the run's
/// deadline and cancellation are looked at in between. They depend on the sizes of the product alone. Most
/// products are one block. Blocks are as large as that allows, because each one copies its part of both sides
/// into the order of gemm's kernel: about 1 % of the time of a block of f32.
struct Blocks {
    rows: usize,
    depth: usize,
    cols: usize,
}

impl Blocks {
    /// The blocks of a product with `m` rows and `n` columns.
    fn of<T>(m: usize, n: usize) -> Blocks {
        // 4.8e9 multiplications of f32, 38 ms at 125 per nanosecond; wider types are slower.
        const DEPTH: usize = 512;
        let side = (3072 * 4 / size_of::<T>()).max(1536);
        // With few rows or columns, the time is that of reading the other side: 128 MB.
        let most = (1 << 27) / size_of::<T>();
        // Blocks of about the same size: a last one of a single row would be computed in another way.
        let even = |n: usize| n.div_ceil(n.div_ceil(side).max(1)).max(1);
        let (rows, cols) = (even(m), even(n));
        let depth = (side * side / (rows * cols)).saturating_mul(DEPTH).min(most / rows.max(cols));
        Blocks { rows, depth: depth.max(DEPTH), cols }
    }
}

/// Computes `out = a * b`, or with `add` `out += a * b`.
fn by_gemm<T: Number>(
    host: &dyn StepHost,
    a: Matrix<T>,
    b: Matrix<T>,
    out: &mut [T],
    add: bool,
) -> Result<()> {
    let (m, k, n) = (a.rows, a.cols, b.cols);
    let blocks = Blocks::of::<T>(m, n);
    if m <= blocks.rows && k <= blocks.depth && n <= blocks.cols {
        block_by_gemm(host, a, b, out, n, add);
        return Ok(());
    }
    for i in (0..m).step_by(blocks.rows) {
        for j in (0..n).step_by(blocks.cols) {
            let (rows, cols) = (blocks.rows.min(m - i), blocks.cols.min(n - j));
            let end = (i + rows - 1) * n + j + cols;
            for at in (0..k).step_by(blocks.depth) {
                look()?;
                let depth = blocks.depth.min(k - at);
                let (a, b) = (a.part(i, rows, at, depth), b.part(at, depth, j, cols));
                block_by_gemm(host, a, b, &mut out[i * n + j..end], n, add || at > 0);
            }
        }
    }
    Ok(())
}

/// Computes a product of at least one row, column and term. The rows of `out` start `pitch` elements apart,
/// and the last one ends with the slice. `add`: the product is added to the contents of `out`.
fn block_by_gemm<T: Number>(
    host: &dyn StepHost,
    a: Matrix<T>,
    b: Matrix<T>,
    out: &mut [T],
    pitch: usize,
    add: bool,
) {
    let (m, k, n) = (a.rows, a.cols, b.cols);
    assert!(
        k == b.rows && n <= pitch && (m - 1) * pitch + n == out.len(),
        "a block lies outside its product"
    );
    let threads = threads(host, m, k, n);
    let mut call = |parallelism| {
        // SAFETY: a `Matrix` is only made of a slice of exactly rows * cols elements, with the strides of
        // that row-major matrix or of its transpose, or is a part of such a matrix, so every (i, j) in range
        // is inside its slice. The inner dimensions agree, and the last element of `out`, which is borrowed
        // exclusively, is element (m - 1, n - 1), as asserted above. Slices are at most isize::MAX bytes
        // long, so the strides fit. T is one of the four types that gemm supports: only `fast` leads here,
        // for f32, f64 and the types of `complex!`.
        unsafe {
            gemm::gemm(
                m,
                n,
                k,
                out.as_mut_ptr(),
                1,
                pitch as isize,
                add,
                a.data.as_ptr(),
                a.col_stride as isize,
                a.row_stride as isize,
                b.data.as_ptr(),
                b.col_stride as isize,
                b.row_stride as isize,
                if add { T::ONE } else { T::ZERO },
                T::ONE,
                false,
                a.conj,
                b.conj,
                parallelism,
            );
        }
    };
    match threads {
        1 => call(gemm::Parallelism::None),
        n => host.in_pool(&mut || call(gemm::Parallelism::Rayon(n))),
    }
}

impl Product for f32 {
    fn multiply(host: &dyn StepHost, a: Matrix<f32>, b: Matrix<f32>, out: &mut [f32]) -> Result<()> {
        check(&a, &b, out)?;
        match out.len().saturating_mul(a.cols) {
            work if SMALL < work && few_rows::fits(&a, &b) => few_rows::multiply(host, a, b, out),
            _ => fast(host, a, b, out),
        }
    }

    fn accumulate(host: &dyn StepHost, a: Matrix<f32>, b: Matrix<f32>, out: &mut [f32]) -> Result<bool> {
        check(&a, &b, out)?;
        match few_rows::fits(&a, &b) {
            true => Ok(false),
            false => accumulate_fast(host, a, b, out),
        }
    }

    fn multiply_columns(
        host: &dyn StepHost,
        a: Matrix<f32>,
        b: Matrix<f32>,
        columns: Range<usize>,
        out: &mut [f32],
    ) -> Result<bool> {
        if !few_rows::fits(&a, &b) {
            return columns_fast(host, a, b, columns, out);
        }
        let Some(b) = b.columns(columns) else { return Ok(false) };
        check(&a, &b, out)?;
        few_rows::multiply(host, a, b, out).map(|()| true)
    }
}

/// Computes `out = a * b` for the types that `gemm` supports.
fn fast<T: Number>(host: &dyn StepHost, a: Matrix<T>, b: Matrix<T>, out: &mut [T]) -> Result<()> {
    match out.len().saturating_mul(a.cols) {
        work if work <= SMALL => plain(a, b, out),
        _ => in_order(host, a, b, out, false),
    }
}

/// The deepest product whose terms gemm sums in registers before it writes: it divides deeper ones.
const ONE_DEPTH: usize = 512;

/// As [`Product::accumulate`], for real numbers. gemm adds what it has summed in registers to what is there
/// by a multiplication with one and an addition in a single rounding, which has the bits of the addition. It
/// has other ways for vectors, for few terms and for small results, where it may add term by term.
fn accumulate_fast<T: Number>(
    host: &dyn StepHost,
    a: Matrix<T>,
    b: Matrix<T>,
    out: &mut [T],
) -> Result<bool> {
    if !sums_once(&a, &b) {
        return Ok(false);
    }
    in_order(host, a, b, out, true).map(|()| true)
}

/// Whether gemm sums each element of the product from its first term to its last, in registers.
fn sums_once<T: Element>(a: &Matrix<T>, b: &Matrix<T>) -> bool {
    let cells = a.rows.saturating_mul(b.cols);
    16 <= a.rows.min(b.cols)
        && 16 * 16 < cells
        && (3..=ONE_DEPTH).contains(&a.cols)
        && SMALL < cells.saturating_mul(a.cols)
}

/// As [`Product::multiply_columns`], for products by gemm.
fn columns_fast<T: Number>(
    host: &dyn StepHost,
    a: Matrix<T>,
    b: Matrix<T>,
    columns: Range<usize>,
    out: &mut [T],
) -> Result<bool> {
    let Some(part) = b.columns(columns).filter(|part| sums_once(&a, &b) && sums_once(&a, part)) else {
        return Ok(false);
    };
    check(&a, &part, out)?;
    by_gemm(host, a, part, out, false).map(|()| true)
}

/// Computes a product by gemm, after a transposed right side was brought into order where that pays.
fn in_order<T: Number>(
    host: &dyn StepHost,
    a: Matrix<T>,
    b: Matrix<T>,
    out: &mut [T],
    add: bool,
) -> Result<()> {
    if !is_turned_first(&a, &b) {
        return by_gemm(host, a, b, out, add);
    }
    let turned = b.turned()?;
    let b = Matrix { row_stride: b.cols, col_stride: 1, ..b.with_data(turned.as_slice()?) };
    by_gemm(host, a, b, out, add)
}

/// Whether a transposed right side is brought into order before gemm reads it. gemm would read it column by
/// column; where its rows are a power of two apart, their cache lines displace each other. Of the smallest
/// products gemm has kernels that read both sides as they are, and for large ones the reading costs little.
fn is_turned_first<T: Element>(a: &Matrix<T>, b: &Matrix<T>) -> bool {
    let small = a.rows < 8 || b.cols < 16 || a.rows * b.cols <= 16 * 16;
    b.col_stride != 1 && !small && b.data.len() <= 1 << 18
}

impl Product for f64 {
    fn multiply(host: &dyn StepHost, a: Matrix<f64>, b: Matrix<f64>, out: &mut [f64]) -> Result<()> {
        check(&a, &b, out)?;
        fast(host, a, b, out)
    }

    fn accumulate(host: &dyn StepHost, a: Matrix<f64>, b: Matrix<f64>, out: &mut [f64]) -> Result<bool> {
        check(&a, &b, out)?;
        accumulate_fast(host, a, b, out)
    }

    fn multiply_columns(
        host: &dyn StepHost,
        a: Matrix<f64>,
        b: Matrix<f64>,
        columns: Range<usize>,
        out: &mut [f64],
    ) -> Result<bool> {
        columns_fast(host, a, b, columns, out)
    }
}

macro_rules! complex {
    ($($t:ty),*) => { $(
        impl Product for $t {
            fn multiply(host: &dyn StepHost, a: Matrix<Self>, b: Matrix<Self>, out: &mut [Self]) -> Result<()> {
                check(&a, &b, out)?;
                fast(host, a, b, out)
            }
        }
    )* };
}
complex!(C64, C128);

macro_rules! through_f32 {
    ($($t:ty),*) => { $(
        impl Product for $t {
            fn multiply(host: &dyn StepHost, a: Matrix<Self>, b: Matrix<Self>, out: &mut [Self]) -> Result<()> {
                check(&a, &b, out)?;
                let wide = |m: &Matrix<$t>| Tensor::from_iter([m.data.len()], m.data.iter().map(|v| v.to_f32()));
                let (x, y) = (wide(&a)?, wide(&b)?);
                let mut z = Tensor::anything(DType::F32, [out.len()])?;
                let z = z.make_mut::<f32>().ok_or_else(|| Error::internal("a fresh tensor is shared"))?;
                f32::multiply(host, a.with_data(x.as_slice()?), b.with_data(y.as_slice()?), z)?;
                out.iter_mut().zip(z).for_each(|(o, v)| *o = <$t>::from_f32(*v));
                Ok(())
            }
        }
    )* };
}
through_f32!(f16, bf16);

macro_rules! integer {
    ($($t:ty),*) => { $(
        impl Product for $t {
            fn multiply(_: &dyn StepHost, a: Matrix<Self>, b: Matrix<Self>, out: &mut [Self]) -> Result<()> {
                check(&a, &b, out)?;
                // The row-by-row loop would read a transposed right side with a long stride, so it is
                // transposed once.
                if b.col_stride != 1 && a.rows > 4 {
                    let turned = b.turned()?;
                    plain(a, Matrix::new(turned.as_slice()?, b.rows, b.cols)?, out)
                } else {
                    plain(a, b, out)
                }
            }
        }
    )* };
}
integer!(i8, i16, i32, i64, u8, u16, u32, u64);

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) struct Threads(pub usize);
    impl StepHost for Threads {
        fn print(&self, _: &str) {}
        fn threads(&self) -> usize {
            self.0
        }
        fn in_pool(&self, work: &mut (dyn FnMut() + Send)) {
            work();
        }
        fn share(&self, threads: usize, work: &(dyn Fn() + Sync)) {
            std::thread::scope(|scope| {
                (1..threads).for_each(|_| drop(scope.spawn(work)));
                work();
            });
        }
    }

    pub(super) fn numbers(n: usize, seed: u64) -> Vec<f32> {
        let next = |s: &mut u64| {
            *s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            Some((*s >> 40) as f32 / 8388608.0 - 1.0)
        };
        let mut s = seed;
        (0..n).map_while(|_| next(&mut s)).collect()
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        for (m, k, n) in [
            (256, 300, 256),
            (64, 512, 1024),
            (33, 4000, 65),
            (17, 1100, 333),
            (301, 513, 203),
            (1024, 64, 1000),
            (2100, 1, 2048),
            (2048, 2, 2100),
            (24, 2, 200_000),
        ] {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            let product = |threads, at, bt| {
                let (ar, ac) = if at { (k, m) } else { (m, k) };
                let (br, bc) = if bt { (n, k) } else { (k, n) };
                let a = Matrix::new(&a, ar, ac).unwrap().transposed(at);
                let b = Matrix::new(&b, br, bc).unwrap().transposed(bt);
                let mut out = vec![0f32; m * n];
                f32::multiply(&Threads(threads), a, b, &mut out).unwrap();
                out.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
            };
            for (at, bt) in [(false, false), (true, false), (false, true), (true, true)] {
                let one = product(1, at, bt);
                for threads in [2, 3, 4, 8] {
                    assert!(one == product(threads, at, bt), "{m} {k} {n} {at} {bt} {threads}");
                }
            }
        }
    }

    /// Whether a right side is read as it is or brought into order first, the bits are the same.
    #[test]
    fn bits_do_not_depend_on_how_the_right_side_lies() {
        for (m, k, n) in [(8, 100, 33), (32, 256, 128), (33, 64, 65), (100, 300, 17), (300, 33, 70)] {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            let a = Matrix::new(&a, m, k).unwrap();
            let turned = Matrix::new(&b, n, k).unwrap().transposed(true);
            let straight: Vec<f32> = (0..k * n).map(|i| b[i % n * k + i / n]).collect();
            let straight = Matrix::new(&straight, k, n).unwrap();
            assert!(is_turned_first(&a, &turned), "{m} {k} {n}");
            let mut out = [vec![0f32; m * n], vec![0f32; m * n], vec![0f32; m * n]];
            f32::multiply(&Threads(1), a, turned, &mut out[0]).unwrap();
            f32::multiply(&Threads(1), a, straight, &mut out[1]).unwrap();
            by_gemm(&Threads(1), a, turned, &mut out[2], false).unwrap();
            let [first, ..] = &out;
            assert!(out.iter().all(|o| o == first), "{m} {k} {n}");
        }
    }

    /// A product that goes into a sum has the bits of one that is added afterwards, or refuses to go there.
    #[test]
    fn bits_do_not_depend_on_whether_a_product_is_added_at_once() {
        let sizes = [1usize, 2, 3, 15, 16, 17, 31, 33, 64, 65, 130, 300];
        let depths = [1usize, 2, 3, 7, 32, 64, 65, 511, 512, 513, 1100];
        let mut at_once = 0;
        for (i, (m, n)) in sizes.into_iter().flat_map(|m| sizes.map(|n| (m, n))).enumerate() {
            for k in depths.into_iter().filter(|k| m * n * k < 1 << 24) {
                let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
                let (at, bt) = (i % 2 == 1, i % 3 == 1);
                let (ar, ac) = if at { (k, m) } else { (m, k) };
                let (br, bc) = if bt { (n, k) } else { (k, n) };
                let a = Matrix::new(&a, ar, ac).unwrap().transposed(at);
                let b = Matrix::new(&b, br, bc).unwrap().transposed(bt);
                let before = numbers(m * n, 3);
                let (mut product, mut sum) = (vec![0f32; m * n], before.clone());
                f32::multiply(&Threads(1), a, b, &mut product).unwrap();
                let want: Vec<u32> = before.iter().zip(&product).map(|(s, p)| (s + p).to_bits()).collect();
                let done = f32::accumulate(&Threads(1), a, b, &mut sum).unwrap();
                let got: Vec<u32> = sum.iter().map(|v| v.to_bits()).collect();
                let unchanged: Vec<u32> = before.iter().map(|v| v.to_bits()).collect();
                assert!(got == if done { want } else { unchanged }, "{m} {k} {n} {at} {bt} {done}");
                at_once += usize::from(done);
            }
        }
        assert!(300 < at_once, "{at_once}");
    }

    /// Columns of a product have the bits that they have in the whole, or are refused.
    #[test]
    fn bits_do_not_depend_on_which_columns_are_computed() {
        let mut narrowed = 0;
        for (m, k, n) in [
            (8, 100, 40),
            (16, 70, 64),
            (32, 256, 128),
            (33, 64, 65),
            (64, 512, 200),
            (64, 513, 200),
            (24, 512, 600),
            (17, 1100, 333),
            (130, 300, 1000),
        ] {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            for (at, bt) in [(false, false), (true, false), (false, true)] {
                let (ar, ac) = if at { (k, m) } else { (m, k) };
                let (br, bc) = if bt { (n, k) } else { (k, n) };
                let a = Matrix::new(&a, ar, ac).unwrap().transposed(at);
                let b = Matrix::new(&b, br, bc).unwrap().transposed(bt);
                let mut whole = vec![0f32; m * n];
                f32::multiply(&Threads(1), a, b, &mut whole).unwrap();
                for columns in [0..n / 2, n / 2..n, 3..20, 1..n, n - 1..n] {
                    let mut part = vec![0f32; m * columns.len()];
                    let done = f32::multiply_columns(&Threads(2), a, b, columns.clone(), &mut part).unwrap();
                    let want = whole.chunks_exact(n).flat_map(|row| &row[columns.clone()]);
                    let same = part.iter().zip(want).all(|(x, y)| x.to_bits() == y.to_bits());
                    assert!(!done || same, "{m} {k} {n} {at} {bt} {columns:?}");
                    narrowed += usize::from(done);
                }
            }
        }
        // Not single columns of products by gemm, transposed right sides, few rows, or many terms.
        assert_eq!(narrowed, 60);
    }

    #[test]
    fn gemm_agrees_with_the_plain_product() {
        for (m, k, n) in [(1, 70, 50), (50, 70, 1), (17, 33, 21), (64, 65, 66)] {
            let (a, b) = (numbers(m * k, 3), numbers(k * n, 4));
            let (a, b) = (Matrix::new(&a, m, k).unwrap(), Matrix::new(&b, k, n).unwrap());
            let (mut fast, mut slow) = (vec![f32::NAN; m * n], vec![f32::NAN; m * n]);
            by_gemm(&Threads(1), a, b, &mut fast, false).unwrap();
            plain(a, b, &mut slow).unwrap();
            assert!(fast.iter().zip(&slow).all(|(x, y)| (x - y).abs() < 1e-4), "{m} {k} {n}");
        }
    }

    /// Blocks only decide when the deadline is looked at: rows and columns of blocks leave the bits alone.
    #[test]
    fn products_in_blocks_are_the_same() {
        for (m, k, n) in [(3200, 40, 70), (70, 40, 3200), (5, 40_000, 3100)] {
            let blocks = Blocks::of::<f64>(m, n);
            assert!(blocks.rows < m || blocks.depth < k || blocks.cols < n, "{m} {k} {n}");
            let values = |len: usize, seed| numbers(len, seed).into_iter().map(f64::from).collect::<Vec<_>>();
            let (a, b) = (values(m * k, 5), values(k * n, 6));
            let (a, b) = (Matrix::new(&a, k, m).unwrap().transposed(true), Matrix::new(&b, k, n).unwrap());
            let (mut fast, mut whole) = (vec![f64::NAN; m * n], vec![f64::NAN; m * n]);
            by_gemm(&Threads(2), a, b, &mut fast, false).unwrap();
            block_by_gemm(&Threads(1), a, b, &mut whole, n, false);
            assert!(fast == whole || k > blocks.depth, "{m} {k} {n}");
            let near = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-12 * k as f64;
            assert!(fast.iter().zip(&whole).all(near), "{m} {k} {n}");
        }
    }

    #[test]
    fn products_end_with_the_deadline() {
        let a = vec![1f32; 1 << 24];
        let a = Matrix::new(&a, 4096, 4096).unwrap();
        let mut out = vec![0f32; 1 << 24];
        let _late = millstream_tensor::budget::enter_until(None, Some(std::time::Instant::now()));
        let error = f32::multiply(&Threads(1), a, a, &mut out).unwrap_err();
        assert_eq!(error.code(), millstream_tensor::Code::DeadlineExceeded);
        let few = Matrix { rows: 64, data: &a.data[..64 * 4096], ..a };
        let error = f32::multiply(&Threads(1), few, a, &mut out[..64 * 4096]).unwrap_err();
        assert_eq!(error.code(), millstream_tensor::Code::DeadlineExceeded);
    }
}
