//! [`Band`]: adjacent diagonals of matrices, as the second and third versions of the diagonal ops take them.
//!
//! Diagonals are numbered from the main one, upwards. A band is stored as rows, the highest diagonal first.
//! Each row has the length of the longest diagonal, and shorter diagonals are aligned to one side:
//!
//! ```text
//! 1 2 3        k = -1..=1,          * 2 6
//! 4 5 6        RIGHT_LEFT           1 5 9
//! 7 8 9                             4 8 *
//! ```

use crate::shared::gradient::sum_of_all;
use millstream_graph::Attrs;
use millstream_graph::OpBuilder;
use millstream_graph::Output;
use millstream_graph::op::{GradCx, InferCx, KernelCx};
use millstream_tensor::pace::Pace;
use millstream_tensor::{Dim, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;

/// The values of the attribute `align`.
pub(super) const ALIGNMENTS: &[&str] = &["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"];

/// The work that a diagonal takes besides its elements, in elements.
const A_LINE: usize = 32;

/// A range of diagonals, and their alignment.
pub(super) struct Band {
    pub low: i64,
    pub high: i64,
    /// True if diagonals above the main one are aligned to the left.
    upper_left: bool,
    /// True if diagonals below the main one are aligned to the left.
    lower_left: bool,
}

/// One diagonal of a band in matrices of known size.
struct Line {
    /// The flat index of its first element in the matrix.
    first: isize,
    /// The flat index of its first element in the band.
    start: isize,
    len: usize,
}

impl Band {
    /// Makes a band of the input `k`, which holds one or two numbers, and the attribute `align`. Without the
    /// attribute, all diagonals are aligned to the left.
    pub fn new(attrs: &Attrs, k: &[i64]) -> Result<Band> {
        let (low, high) = match *k {
            [k] => (k, k),
            [low, high] => (low, high),
            _ => return Err(invalid!("`k` must be one number or two but has {} entries", k.len())),
        };
        ensure!(low <= high, "`k` is [{low}, {high}]: the lower diagonal must not be above the upper one");
        let (upper_left, lower_left) = match attrs.get("align").is_some() {
            true => {
                let align = attrs.str("align")?.text().into_owned();
                (align.starts_with("LEFT"), align.ends_with("LEFT"))
            }
            false => (true, true),
        };
        Ok(Band { low, high, upper_left, lower_left })
    }

    /// As [`Band::new`], from input `i` of a running kernel.
    pub fn of(cx: &KernelCx, i: usize) -> Result<Band> {
        ensure!(
            cx.input(i).rank() <= 1,
            "`k` must be a scalar or a vector but has shape {}",
            cx.input(i).shape()
        );
        Band::new(cx.attrs(), &cx.ints(i)?)
    }

    /// As [`Band::new`], from input `i`, or `None` if its value is not known.
    pub fn inferred(cx: &InferCx, i: usize) -> Result<Option<Band>> {
        cx.scalar_or_vector(i)?;
        cx.ints(i).map(|k| Band::new(cx.attrs(), &k)).transpose()
    }

    /// Returns the number of diagonals.
    pub fn count(&self) -> Result<usize> {
        let count = self.high.checked_sub(self.low).and_then(|n| n.checked_add(1));
        count.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| invalid!("`k` names too many diagonals"))
    }

    /// Returns the length of the longest diagonal, or an error if a diagonal lies outside the matrices.
    pub fn longest(&self, rows: usize, cols: usize) -> Result<usize> {
        let (r, c) = (rows as i64, cols as i64);
        for k in [self.low, self.high] {
            ensure!(
                (-r < k && k < c) || k == 0,
                "`k` names diagonal {k}, which is outside of matrices of {rows} by {cols}"
            );
        }
        Ok(self.length(rows, cols))
    }

    /// Returns the length of the longest diagonal. Diagonals outside the matrices have length 0.
    fn length(&self, rows: usize, cols: usize) -> usize {
        (rows as i64 + self.high.min(0)).min(cols as i64 - self.low.max(0)).max(0) as usize
    }

    /// Returns the shape of the band of a batch of matrices.
    pub fn shape<D: Clone>(&self, batch: &[D], longest: D, size: impl Fn(usize) -> D) -> Result<Vec<D>> {
        let mut dims = batch.to_vec();
        if self.low < self.high {
            dims.push(size(self.count()?));
        }
        dims.push(longest);
        Ok(dims)
    }

    /// Returns the shape of the band of matrices whose sizes may be unknown.
    pub fn dims(&self, batch: &[Dim], rows: Dim, cols: Dim) -> Result<Vec<Dim>> {
        let longest = match (rows, cols) {
            (Some(rows), Some(cols)) => Some(self.longest(rows, cols)?),
            _ => None,
        };
        self.shape(batch, longest, Some)
    }

    /// The diagonals that have elements, made one after another: there can be millions.
    fn lines(&self, rows: usize, cols: usize) -> impl Iterator<Item = Line> + use<> {
        let (high, upper_left, lower_left) = (self.high, self.upper_left, self.lower_left);
        let longest = self.length(rows, cols);
        let (r, c) = (rows as i64, cols as i64);
        let line = move |k: i64| {
            let len = (r + k.min(0)).min(c - k.max(0)).max(0);
            let left = (k >= 0 && upper_left) || (k <= 0 && lower_left);
            let pad = if left { 0 } else { longest as i64 - len };
            let first = if k < 0 { -k * c } else { k };
            Line {
                first: first as isize,
                start: ((high - k) * longest as i64 + pad) as isize,
                len: len as usize,
            }
        };
        (self.low..=self.high).map(line).filter(|line| line.len > 0)
    }

    /// Writes the diagonals in `band` to `matrices`, a batch of `rows` by `cols` matrices.
    pub fn write(
        &self,
        band: &Tensor,
        matrices: &mut Tensor,
        batch: &[usize],
        rows: usize,
        cols: usize,
    ) -> Result<()> {
        let (size, mut pace) = (self.count()? * self.length(rows, cols), Pace::new());
        for line in self.lines(rows, cols) {
            pace.spend(A_LINE)?;
            let shape = Shape::new(batch.iter().copied().chain([line.len]));
            let part = band.strided(shape.clone(), line.start, &strides(batch, size, 1))?;
            matrices.assign_strided(
                line.first,
                &strides(batch, rows * cols, cols as isize + 1),
                shape,
                &part,
            )?;
        }
        Ok(())
    }

    /// Reads the diagonals of `matrices`, a batch of `rows` by `cols` matrices, into `band`.
    pub fn read(
        &self,
        matrices: &Tensor,
        band: &mut Tensor,
        batch: &[usize],
        rows: usize,
        cols: usize,
    ) -> Result<()> {
        let (size, mut pace) = (self.count()? * self.length(rows, cols), Pace::new());
        for line in self.lines(rows, cols) {
            pace.spend(A_LINE)?;
            let shape = Shape::new(batch.iter().copied().chain([line.len]));
            let part = matrices.strided(
                shape.clone(),
                line.first,
                &strides(batch, rows * cols, cols as isize + 1),
            )?;
            band.assign_strided(line.start, &strides(batch, size, 1), shape, &part)?;
        }
        Ok(())
    }
}

/// Returns the strides of a batch of blocks of `size` elements, followed by `step`, the stride within each.
fn strides(batch: &[usize], size: usize, step: isize) -> SmallVec<[isize; 8]> {
    let mut strides: SmallVec<[isize; 8]> = SmallVec::from_elem(0, batch.len());
    let mut block = size;
    for (stride, &dim) in strides.iter_mut().zip(batch).rev() {
        *stride = block as isize;
        block = block.saturating_mul(dim);
    }
    strides.push(step);
    strides
}

/// Returns the op of the family (`MatrixDiag`, `MatrixDiagPart`, `MatrixSetDiag`) with the same version and
/// alignment as the node.
pub(super) fn of_same_version<'g>(cx: &GradCx<'g, '_>, family: [&'static str; 2]) -> OpBuilder<'g> {
    // Only the third version has an alignment.
    let [unaligned, aligned] = family;
    match cx.attrs().get("align") {
        Some(align) => cx.op(aligned).attr("align", align.clone()),
        None => cx.op(unaligned),
    }
}

/// The ops that read diagonals ([`TAKE`]) and write them ([`PUT`]), by version.
pub(super) const TAKE: [&str; 2] = ["MatrixDiagPartV2", "MatrixDiagPartV3"];
pub(super) const PUT: [&str; 2] = ["MatrixSetDiagV2", "MatrixSetDiagV3"];

/// Sets the gradient of a padding value: the sum of `dy` minus the sum of `elsewhere`, the part of it that
/// goes to other inputs.
pub(super) fn give_padding<'g>(cx: &mut GradCx<'g, '_>, i: usize, dy: Output<'g>, elsewhere: Output<'g>) {
    if cx.wants(i) {
        let padding = sum_of_all(cx, dy) - sum_of_all(cx, elsewhere);
        cx.give(i, padding);
    }
}
