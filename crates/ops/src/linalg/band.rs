//! [`Band`]: neighbouring diagonals of matrices, as the second and third versions of the diagonal ops take them.
//!
//! Diagonals are counted from the main one, upwards; a band is stored as rows, the highest diagonal first, each as long as the
//! longest and aligned to one side:
//!
//! ```text
//! 1 2 3        k = -1..=1,          * 2 6
//! 4 5 6        RIGHT_LEFT           1 5 9
//! 7 8 9                             4 8 *
//! ```

use crate::array::sum_of_all;
use millstream_graph::Attrs;
use millstream_graph::OpBuilder;
use millstream_graph::Output;
use millstream_graph::op::{GradCx, InferCx, KernelCx};
use millstream_tensor::{Dim, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;

/// How the attribute `align` is spelled.
pub(super) const ALIGNMENTS: &[&str] = &["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"];

/// Which diagonals, and how they are aligned.
pub(super) struct Band {
    pub low: i64,
    pub high: i64,
    /// Diagonals above the main one begin at the left.
    upper_left: bool,
    /// Those below it do.
    lower_left: bool,
}

/// One diagonal of a band in matrices of known size.
struct Line {
    /// Its place in the matrix: the flat index of its first element.
    first: isize,
    /// Its place in the band.
    start: isize,
    len: usize,
}

impl Band {
    /// From the input `k`, one number or two, and the attribute `align` where there is one: without it all begin at the left.
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

    /// As [`Band::new`], from input `i` as far as it is known.
    pub fn inferred(cx: &InferCx, i: usize) -> Result<Option<Band>> {
        ensure!(
            cx.input(i).rank().is_none_or(|r| r <= 1),
            "`k` must be a scalar or a vector but has shape {}",
            cx.input(i)
        );
        cx.ints(i).map(|k| Band::new(cx.attrs(), &k)).transpose()
    }

    /// How many diagonals there are.
    pub fn count(&self) -> Result<usize> {
        let count = self.high.checked_sub(self.low).and_then(|n| n.checked_add(1));
        count.and_then(|n| usize::try_from(n).ok()).ok_or_else(|| invalid!("`k` names too many diagonals"))
    }

    /// The length of the longest diagonal; an error if one lies outside of the matrices.
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

    /// The length of the longest diagonal; those outside of the matrices have none.
    fn length(&self, rows: usize, cols: usize) -> usize {
        (rows as i64 + self.high.min(0)).min(cols as i64 - self.low.max(0)).max(0) as usize
    }

    /// The shape of the band in a batch of matrices.
    pub fn shape<D: Clone>(&self, batch: &[D], longest: D, size: impl Fn(usize) -> D) -> Result<Vec<D>> {
        let mut dims = batch.to_vec();
        if self.low < self.high {
            dims.push(size(self.count()?));
        }
        dims.push(longest);
        Ok(dims)
    }

    /// The shape of the band where the sizes of the matrices may be unknown.
    pub fn dims(&self, batch: &[Dim], rows: Dim, cols: Dim) -> Result<Vec<Dim>> {
        let longest = match (rows, cols) {
            (Some(rows), Some(cols)) => Some(self.longest(rows, cols)?),
            _ => None,
        };
        self.shape(batch, longest, Some)
    }

    fn lines(&self, rows: usize, cols: usize) -> Vec<Line> {
        let longest = self.length(rows, cols);
        let (r, c) = (rows as i64, cols as i64);
        let line = |k: i64| {
            let len = (r + k.min(0)).min(c - k.max(0)).max(0);
            let left = (k >= 0 && self.upper_left) || (k <= 0 && self.lower_left);
            let pad = if left { 0 } else { longest as i64 - len };
            let first = if k < 0 { -k * c } else { k };
            Line {
                first: first as isize,
                start: ((self.high - k) * longest as i64 + pad) as isize,
                len: len as usize,
            }
        };
        (self.low..=self.high).map(line).filter(|line| line.len > 0).collect()
    }

    /// Writes the diagonals of `band` into `matrices`, a batch of `rows` by `cols`.
    pub fn write(
        &self,
        band: &Tensor,
        matrices: &mut Tensor,
        batch: &[usize],
        rows: usize,
        cols: usize,
    ) -> Result<()> {
        let size = self.count()? * self.length(rows, cols);
        for line in self.lines(rows, cols) {
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

    /// Writes the diagonals of `matrices`, a batch of `rows` by `cols`, into `band`.
    pub fn read(
        &self,
        matrices: &Tensor,
        band: &mut Tensor,
        batch: &[usize],
        rows: usize,
        cols: usize,
    ) -> Result<()> {
        let size = self.count()? * self.length(rows, cols);
        for line in self.lines(rows, cols) {
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

/// Strides of a batch of blocks of `size` elements, then `step` within each.
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

/// An op of the family (`MatrixDiag`, `MatrixDiagPart`, `MatrixSetDiag`) of the same version and alignment as the node.
pub(super) fn of_same_version<'g>(cx: &GradCx<'g, '_>, family: [&'static str; 2]) -> OpBuilder<'g> {
    let v3 = cx.node().op.name.ends_with("V3");
    let op = cx.op(family[usize::from(v3)]);
    match cx.attrs().get("align") {
        Some(align) if v3 => op.attr("align", align.clone()),
        _ => op,
    }
}

/// The ops that take diagonals, and that put them in, by version.
pub(super) const TAKE: [&str; 2] = ["MatrixDiagPartV2", "MatrixDiagPartV3"];
pub(super) const PUT: [&str; 2] = ["MatrixSetDiagV2", "MatrixSetDiagV3"];

/// The gradient of what fills up: all of the output that did not come from elsewhere.
pub(super) fn give_padding<'g>(cx: &mut GradCx<'g, '_>, i: usize, dy: Output<'g>, elsewhere: Output<'g>) {
    if cx.wants(i) {
        let padding = sum_of_all(cx, dy) - sum_of_all(cx, elsewhere);
        cx.give(i, padding);
    }
}
