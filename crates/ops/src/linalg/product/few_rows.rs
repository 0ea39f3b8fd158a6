//! Products with few rows, in f32: the step of a recurrent net, whose right side is read once and larger than
//! the caches.
//!
//! `gemm` first copies the whole right side into the order of its kernel; with few rows, that takes as long
//! as the multiplication. Here a panel of it (a strip of columns, [`DEPTH`] rows) is loaded into the
//! first-level cache and multiplied with all rows of the left side:
//!
//! ```text
//!            strip                     a tile of the result, 6 rows by 4 vectors, stays in
//!          b +---+---------            registers over the panel's depth
//!      DEPTH |###|
//!            +---+                     the first tile reads the panel from b and leaves a
//!            |   |                     copy behind for the others
//! ```
//!
//! Each element sums its terms in the order of `k`, each by one fused multiply-add if the machine has it,
//! wherever tiles, panels and threads begin.

use super::Matrix;
use millstream_graph::op::StepHost;
use millstream_tensor::pace::Pace;
use millstream_tensor::{Result, prefetch};
use parking_lot::Mutex;
use pulp::{Arch, Simd, WithSimd};
use std::array::from_fn;
use std::ops::Range;
use std::sync::LazyLock;

/// The number of rows of a panel. With 64 columns it takes 32 KB.
const DEPTH: usize = 128;
/// The largest width of a strip: four of the widest vectors.
const WIDTH: usize = 64;
/// The number of rows of a tile.
const ROWS: usize = 6;

/// Returns whether this file is faster than `gemm`: for 16 rows (2, if `b` is transposed) to 128 rows, and a
/// right side of at least 1 MB. Measured on one thread, this file and `gemm`, in GFLOP/s, best of four or
/// five (Intel Xeon, AVX-512, 2 cores, 2026-11). The columns for a transposed `b` were measured before panels
/// were prefetched, which is done only if `b` is not transposed. With both restricted to AVX2 and without
/// prefetching: 64x512x1024 82 and 58, 16x512x1024 54 and 38, but 64x1024x2048 52 and 57.
///
/// ```text
/// rows by k by n     b as it is      b transposed
///    4x 512x1024       51   72       20   11
///   16x 512x1024      115   85       57   39
///   32x 512x2048      138   69       82   61
///   64x 512x1024      162  146      116   98
///   64x1024x2048      140  131      104   85
///  128x 512x1024      168  165      135  130
///  256x 512x1024      181  199      140  144
///   16x 128x 512      130  177       58   78
/// ```
pub(super) fn fits(a: &Matrix<f32>, b: &Matrix<f32>) -> bool {
    let least = if b.col_stride == 1 { 16 } else { 2 };
    (least..=128).contains(&a.rows) && WIDTH <= b.cols && 1 << 18 <= b.data.len()
}

/// Computes `out = a * b`. The previous contents of `out` are ignored. `a` has at least one column.
pub(super) fn multiply(host: &dyn StepHost, a: Matrix<f32>, b: Matrix<f32>, out: &mut [f32]) -> Result<()> {
    let (k, n) = (a.cols, b.cols);
    let turned;
    let a = if a.col_stride == 1 {
        a
    } else {
        turned = a.turned()?;
        Matrix::new(turned.as_slice()?, a.rows, k)?
    };
    let threads = threads(host, a.rows, k, n);
    // Each thread gets several strips, so that a thread that starts late can process fewer of them.
    let width = if threads == 1 { n } else { n.div_ceil(4 * threads).next_multiple_of(WIDTH) };
    let mut parts: Vec<Part> =
        (0..n).step_by(width).map(|from| Part { a, b, from, out: Vec::with_capacity(a.rows) }).collect();
    for row in out.chunks_exact_mut(n) {
        parts.iter_mut().zip(row.chunks_mut(width)).for_each(|(part, row)| part.out.push(row));
    }
    static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);
    let parts = Mutex::new(parts);
    let failed = Mutex::new(Ok(()));
    host.share(threads, &|| {
        while failed.lock().is_ok() {
            let Some(part) = ({ parts.lock().pop() }) else { return };
            if let Err(error) = ARCH.dispatch(part) {
                *failed.lock() = Err(error);
            }
        }
    });
    failed.into_inner()
}

/// Returns the number of threads for a product. 64x512x1024 in `cargo xtask bench`: 173 GFLOP/s on one
/// thread, 264 on two.
fn threads(host: &dyn StepHost, m: usize, k: usize, n: usize) -> usize {
    const WORTH: f64 = 4e6;
    let work = m as f64 * k as f64 * n as f64;
    if work < 2.0 * WORTH { 1 } else { host.threads().clamp(1, (work / WORTH) as usize) }
}

/// A strip of the result: its columns from `from` on. The rows in `out` have its width.
struct Part<'a> {
    a: Matrix<'a, f32>,
    b: Matrix<'a, f32>,
    from: usize,
    out: Vec<&'a mut [f32]>,
}

impl WithSimd for Part<'_> {
    type Output = Result<()>;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Result<()> {
        // A tile, a row of the panel and one value of `a` fill the registers.
        if S::REGISTER_COUNT >= 32 { self.fill::<S, 4>(simd) } else { self.fill::<S, 2>(simd) }
    }
}

/// A panel is aligned to a cache line.
#[repr(align(64))]
struct Panel([f32; DEPTH * WIDTH]);

impl Part<'_> {
    #[inline(always)]
    fn fill<S: Simd, const V: usize>(mut self, simd: S) -> Result<()> {
        let width = V * S::F32_LANES;
        let mut panel = Panel([0.0; DEPTH * WIDTH]);
        let columns = self.out.first().map_or(0, |row| row.len());
        let mut pace = Pace::new();
        for j in (0..columns).step_by(width) {
            let columns = j..columns.min(j + width);
            for k in (0..self.a.cols).step_by(DEPTH) {
                let depth = k..self.a.cols.min(k + DEPTH);
                // A panel takes about as long as this many additions.
                pace.spend(DEPTH * self.out.len() / 4)?;
                let panel = &mut panel.0[..depth.len() * width];
                let direct = self.b.col_stride == 1 && columns.len() == width;
                if !direct {
                    self.copy(&columns, &depth, width, panel);
                }
                let b = &self.b.data[if direct { k * self.b.row_stride + self.from + j } else { 0 }..];
                let mut source = direct.then_some((b, self.b.row_stride));
                // The next panel: below this one, or at the top of the next strip.
                let (down, right) = if depth.end < self.a.cols { (depth.end, j) } else { (0, j + width) };
                let ahead = Ahead {
                    b: self.b.data,
                    from: down * self.b.row_stride + self.from + right,
                    stride: self.b.row_stride,
                    tiles: if direct { self.out.len().div_ceil(ROWS) } else { usize::MAX },
                };
                let mut at = 0;
                for rows in self.out.chunks_mut(ROWS) {
                    let a = &self.a.data[at * self.a.row_stride..];
                    let mut tile = Tile {
                        a,
                        pitch: self.a.row_stride,
                        depth: &depth,
                        rows,
                        columns: &columns,
                        ahead: &ahead,
                        due: if direct { at / ROWS } else { usize::MAX },
                    };
                    let panel = S::as_mut_simd_f32s(panel).0.as_chunks_mut::<V>().0;
                    match source.take() {
                        Some(source) => tile.any::<S, V, true>(simd, source, panel),
                        None => tile.any::<S, V, false>(simd, (&[], 0), panel),
                    }
                    at += ROWS;
                }
            }
        }
        Ok(())
    }

    /// Fills the panel from `b`, with zeros beyond the end of `b`. Of a transposed `b`, whose columns are
    /// contiguous, it copies four columns at a time.
    #[inline(always)]
    fn copy(&self, columns: &Range<usize>, depth: &Range<usize>, width: usize, panel: &mut [f32]) {
        let Matrix { data, row_stride, col_stride, .. } = self.b;
        let from = self.from + columns.start;
        if col_stride == 1 {
            for (k, row) in depth.clone().zip(panel.chunks_exact_mut(width)) {
                let (here, beyond) = row.split_at_mut(columns.len());
                here.copy_from_slice(&data[k * row_stride + from..][..columns.len()]);
                beyond.fill(0.0);
            }
            return;
        }
        let column = |c: usize| match c < columns.len() {
            true => &data[(from + c) * col_stride + depth.start..][..depth.len()],
            false => &[0.0; DEPTH][..depth.len()],
        };
        for c in (0..width).step_by(4) {
            let columns: [&[f32]; 4] = from_fn(|i| column(c + i));
            let cells = panel.chunks_exact_mut(width).filter_map(|row| row[c..].first_chunk_mut::<4>());
            for ((((cell, &x), &y), &z), &w) in
                cells.zip(columns[0]).zip(columns[1]).zip(columns[2]).zip(columns[3])
            {
                *cell = [x, y, z, w];
            }
        }
    }
}

/// The position of the next panel in `b`, which the tiles of this one prefetch: the rows of a strip are far
/// apart, so the hardware prefetcher detects no pattern. Each tile fetches every `tiles`-th row. Without
/// this, the first tile waits for memory: 4 to 10 % at 64x512x1024 on one thread; no difference was seen on
/// two.
struct Ahead<'t> {
    b: &'t [f32],
    from: usize,
    stride: usize,
    tiles: usize,
}

/// At most [`ROWS`] rows of the result and of `a`.
struct Tile<'t, 'o> {
    a: &'t [f32],
    pitch: usize,
    depth: &'t Range<usize>,
    rows: &'t mut [&'o mut [f32]],
    columns: &'t Range<usize>,
    ahead: &'t Ahead<'t>,
    /// The first row of the next panel that this tile prefetches.
    due: usize,
}

impl Tile<'_, '_> {
    #[inline(always)]
    fn any<S: Simd, const V: usize, const FIRST: bool>(
        &mut self,
        simd: S,
        source: (&[f32], usize),
        panel: &mut [[S::f32s; V]],
    ) {
        match self.rows.len() {
            1 => self.add::<S, V, 1, FIRST>(simd, source, panel),
            2 => self.add::<S, V, 2, FIRST>(simd, source, panel),
            3 => self.add::<S, V, 3, FIRST>(simd, source, panel),
            4 => self.add::<S, V, 4, FIRST>(simd, source, panel),
            5 => self.add::<S, V, 5, FIRST>(simd, source, panel),
            _ => self.add::<S, V, ROWS, FIRST>(simd, source, panel),
        }
    }

    /// Adds the product with the panel to `R` rows. The `FIRST` tile reads the panel from `source`, whose
    /// rows have this stride, and fills it.
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        clippy::manual_memcpy,
        reason = "loops of constant length stay in registers"
    )]
    fn add<S: Simd, const V: usize, const R: usize, const FIRST: bool>(
        &mut self,
        simd: S,
        (source, stride): (&[f32], usize),
        panel: &mut [[S::f32s; V]],
    ) {
        let (lanes, depth) = (S::F32_LANES, panel.len());
        let vector = |v: usize| {
            let at = |v: usize| self.columns.end.min(self.columns.start + v * lanes);
            at(v)..at(v + 1)
        };
        let a: [&[f32]; R] = from_fn(|r| &self.a[r * self.pitch + self.depth.start..][..depth]);
        let zero = simd.splat_f32s(0.0);
        let mut sums = [[zero; V]; R];
        if 0 < self.depth.start {
            for r in 0..R {
                for v in 0..V {
                    sums[r][v] = load(simd, &self.rows[r][vector(v)]);
                }
            }
        }
        let Ahead { b: next, from, stride: next_stride, tiles } = *self.ahead;
        let mut due = self.due;
        for k in 0..depth {
            if k == due {
                due += tiles;
                for line in (0..V * lanes).step_by(16) {
                    prefetch(next, from + k * next_stride + line);
                }
            }
            let mut b = [zero; V];
            if FIRST {
                // `from_fn`, or reading `panel[k]` back, would pass the values through the stack.
                let row = S::as_simd_f32s(&source[k * stride..][..V * lanes]).0;
                for v in 0..V {
                    b[v] = row[v];
                }
                panel[k] = b;
            } else {
                b = panel[k];
            }
            for r in 0..R {
                let x = simd.splat_f32s(a[r][k]);
                for v in 0..V {
                    sums[r][v] = simd.mul_add_e_f32s(x, b[v], sums[r][v]);
                }
            }
        }
        for r in 0..R {
            for v in 0..V {
                store(simd, &mut self.rows[r][vector(v)], sums[r][v]);
            }
        }
    }
}

#[inline(always)]
fn load<S: Simd>(simd: S, row: &[f32]) -> S::f32s {
    match S::as_simd_f32s(row) {
        ([whole], []) => *whole,
        _ => simd.partial_load_f32s(row),
    }
}

#[inline(always)]
fn store<S: Simd>(simd: S, row: &mut [f32], values: S::f32s) {
    match S::as_mut_simd_f32s(row) {
        ([whole], []) => *whole = values,
        _ => simd.partial_store_f32s(row, values),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Threads, numbers};
    use super::*;

    #[test]
    fn agrees_with_the_plain_product_and_bits_do_not_depend_on_threads() {
        for (m, k, n) in [
            (1, 1, 64),
            (2, 2, 1),
            (7, 129, 100),
            (13, 300, 203),
            (64, 128, 130),
            (16, 3, 5000),
            (6, 2000, 65),
        ] {
            for (ta, tb) in [(false, false), (true, false), (false, true), (true, true)] {
                let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
                let (ar, ac) = if ta { (k, m) } else { (m, k) };
                let (br, bc) = if tb { (n, k) } else { (k, n) };
                let a = Matrix::new(&a, ar, ac).unwrap().transposed(ta);
                let b = Matrix::new(&b, br, bc).unwrap().transposed(tb);
                let product = |threads| {
                    let mut out = vec![f32::NAN; m * n];
                    multiply(&Threads(threads), a, b, &mut out).unwrap();
                    out
                };
                let one = product(1);
                let mut slow = vec![0.0; m * n];
                super::super::plain(a, b, &mut slow).unwrap();
                assert!(one.iter().zip(&slow).all(|(x, y)| (x - y).abs() < 1e-4), "{m} {k} {n} {ta} {tb}");
                for threads in [2, 3, 4] {
                    let other = product(threads);
                    let same = one.iter().zip(&other).all(|(x, y)| x.to_bits() == y.to_bits());
                    assert!(same, "{m} {k} {n} {ta} {tb} {threads}");
                }
            }
        }
    }
}
