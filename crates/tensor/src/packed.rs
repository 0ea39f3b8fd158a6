//! [`Packed`]: the items of a list as rows of one tensor from the start. A loop that writes its results one by one into a list of known length
//! needs no second copy of them all when they are stacked, and no block of memory for each.

use crate::budget::Charged;
use crate::tensor::Storage;
use crate::{Shape, Tensor};

/// Rows of one shape, some of them written.
pub(crate) struct Packed {
    /// Rows that are not written hold anything; nobody sees them.
    whole: Tensor,
    written: Charged<bool>,
    n_written: usize,
}

impl Packed {
    /// Larger items stay where they are: to copy one takes longer than the rest of a loop's turn.
    const LARGEST_ITEM: usize = 1 << 18;
    /// Nor is more than this asked for on the word of one item.
    const LARGEST: usize = 1 << 30;

    /// Room for `n` items like this one. `None` where they had better stay apart, or there is no room.
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

    /// Copies an item of the same dtype to row `i`. False if it has another shape, or somebody holds rows.
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

    /// Whether row `i` is written.
    pub(crate) fn is_written(&self, i: usize) -> bool {
        self.written.get(i).copied().unwrap_or(false)
    }

    /// Row `i`, if it is written; shared.
    pub(crate) fn row(&self, i: usize) -> Option<Tensor> {
        self.is_written(i).then(|| self.whole.row(i).ok())?
    }

    /// All rows, if all are written.
    pub(crate) fn whole(&self) -> Option<&Tensor> {
        (self.n_written == self.written.len()).then_some(&self.whole)
    }
}
