//! [`Packed`]: the items of a list as rows of one tensor from the start. A loop that writes its results one
//! by one into a list of known length needs no block of memory per result, and no second copy when the
//! results are stacked.

use crate::budget::Charged;
use crate::tensor::Storage;
use crate::{Result, Shape, Tensor};

/// Rows of one shape, some of them written.
pub(crate) struct Packed {
    /// Rows that are not written have arbitrary contents and are never exposed.
    whole: Tensor,
    written: Charged<bool>,
    n_written: usize,
}

impl Packed {
    /// The largest item that is packed, in bytes. Copying a larger item takes longer than the rest of an
    /// iteration.
    const LARGEST_ITEM: usize = 1 << 18;
    /// The largest tensor that is allocated on the evidence of one item, in bytes.
    const LARGEST: usize = 1 << 30;

    /// Room for `n` items like this one. `None` if the items are better kept apart, or if there is no room.
    pub(crate) fn like(item: &Tensor, n: usize) -> Option<Packed> {
        let bytes = item.byte_size();
        let suits = item.as_scalar().is_none()
            && item.dtype().size().is_some()
            && (1..=Self::LARGEST_ITEM).contains(&bytes)
            && bytes.checked_mul(n)? <= Self::LARGEST;
        if !suits {
            return None;
        }
        let shape = Shape::new(std::iter::once(n).chain(item.shape().iter().copied()));
        let whole = Tensor::anything(item.dtype(), shape).ok()?;
        let mut written = Charged::new();
        written.resize_with(n, || false).ok()?;
        Some(Packed { whole, written, n_written: 0 })
    }

    /// The rows of a tensor, all written.
    pub(crate) fn of(whole: Tensor) -> Result<Packed> {
        let n_written = whole.shape().first().copied().unwrap_or(0);
        let mut written = Charged::new();
        written.resize_with(n_written, || true)?;
        Ok(Packed { whole, written, n_written })
    }

    /// Copies an item of the same dtype to row `i`. Returns false if its shape differs, or if the rows are
    /// shared.
    pub(crate) fn write(&mut self, i: usize, item: &Tensor) -> bool {
        if self.whole.shape()[1..] != item.shape()[..] {
            return false;
        }
        let (Some((Storage::Plain(rows), _)), Some(from)) = (self.whole.storage_mut(), item.as_bytes())
        else {
            return false;
        };
        let at = i * from.len();
        let (Some(to), Some(written)) =
            (rows.bytes_mut().get_mut(at..at + from.len()), self.written.get_mut(i))
        else {
            return false;
        };
        to.copy_from_slice(from);
        self.n_written += usize::from(!*written);
        *written = true;
        true
    }

    /// Whether row `i` was written.
    pub(crate) fn is_written(&self, i: usize) -> bool {
        self.written.get(i).copied().unwrap_or(false)
    }

    /// Row `i`, shared, if it was written; an error if there is no room for a handle.
    pub(crate) fn row(&self, i: usize) -> Result<Option<Tensor>> {
        self.is_written(i).then(|| self.whole.row(i)).transpose()
    }

    /// All rows, shared, `None` for one that was not written; an error if there is no room for handles.
    pub(crate) fn rows(&self) -> Result<Charged<Option<Tensor>>> {
        Charged::try_of((0..self.written.len()).map(|i| self.row(i)))
    }

    /// All rows, if all were written.
    pub(crate) fn whole(&self) -> Option<&Tensor> {
        (self.n_written == self.written.len()).then_some(&self.whole)
    }
}
