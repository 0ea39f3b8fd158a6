//! Printing tensors: `f32[2,3] [[1 2 3] [4 5 6]]`.
//!
//! `{}` and `{:?}` cut long tensors in the middle, `{:#}` prints them in full. [`Tensor::parse`] reads the
//! output of `{:#}` back to the same bits, except for resources and variants.

use crate::text::{Leaf, print_str};
use crate::{DType, Tensor, with_element};
use std::fmt;

/// Tensors of at most this many elements are never cut.
const SHORT: usize = 64;
/// Strings longer than this print only their first and last `STR_EDGE` bytes.
const LONG_STR: usize = 120;
const STR_EDGE: usize = 40;

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self, f, f.alternate())
    }
}

/// Prints as `{}` does, so that a tensor inside a pretty-printed struct is cut too.
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self, f, false)
    }
}

fn print(t: &Tensor, f: &mut fmt::Formatter<'_>, full: bool) -> fmt::Result {
    write!(f, "{}", t.dtype())?;
    if t.rank() > 0 {
        write!(f, "{}", t.shape())?;
    }
    f.write_str(" ")?;
    if t.elements() == 0 {
        // Not `[[] [] ..]`: the list may be long.
        return f.write_str("[]");
    }
    let cut = if full { None } else { cut(t) };
    match t.dtype() {
        DType::Str => nest(f, t.shape(), cut, t.as_strs(), &|s, f| string(s, f, full)),
        DType::Resource => nest(f, t.shape(), cut, t.as_handles(), &|h, f| write!(f, "{h:?}")),
        DType::Variant => nest(f, t.shape(), cut, t.as_variants(), &|v, f| write!(f, "{v:?}")),
        dtype => with_element!(dtype, T => {
            nest(f, t.shape(), cut, t.as_slice::<T>().ok(), &|v: &T, f| v.print(f, full))
        }, else => Ok(())),
    }
}

fn string(s: &[u8], f: &mut fmt::Formatter<'_>, full: bool) -> fmt::Result {
    if full || s.len() <= LONG_STR {
        return print_str(f, s);
    }
    print_str(f, &s[..STR_EDGE])?;
    f.write_str("..")?;
    print_str(f, &s[s.len() - STR_EDGE..])
}

/// The number of entries of each axis that are shown before and after the gap.
type Cut = (usize, usize);

/// The widest cut that shows at most `SHORT` elements; `None` if nothing needs to be cut.
fn cut(t: &Tensor) -> Option<Cut> {
    if t.elements() <= SHORT {
        return None;
    }
    let shown = |&(head, tail): &Cut| {
        t.shape()
            .iter()
            .fold(1usize, |n, &d| n.saturating_mul(if d > head + tail + 1 { head + tail } else { d }))
    };
    // The last cut shows a single element of each axis longer than 2. A tensor whose axes are all 1 or 2
    // long, such as 2^20, still shows too many, hence `(0, 0)`.
    [(3, 3), (2, 2), (1, 1), (1, 0)].into_iter().find(|c| shown(c) <= SHORT).or(Some((0, 0)))
}

/// Recurses over the axes, of which a tensor has at most [`MAX_RANK`](crate::MAX_RANK).
fn nest<T>(
    f: &mut fmt::Formatter<'_>,
    shape: &[usize],
    cut: Option<Cut>,
    cells: Option<&[T]>,
    leaf: &dyn Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    let cells = cells.unwrap_or_default();
    let Some((&outer, inner)) = shape.split_first() else {
        return cells.first().map_or(Ok(()), |v| leaf(v, f));
    };
    let size = cells.len() / outer.max(1);
    // An axis is cut only if that hides at least two entries: the gap itself takes the place of one.
    let (head, tail) = cut.filter(|(head, tail)| outer > head + tail + 1).unwrap_or((outer, 0));
    f.write_str("[")?;
    for (i, part) in cells.chunks_exact(size.max(1)).enumerate() {
        if i >= head && i < outer - tail {
            if i == head {
                f.write_str(if head == 0 { ".." } else { " .." })?;
            }
            continue;
        }
        if i > 0 {
            f.write_str(" ")?;
        }
        nest(f, inner, cut, Some(part), leaf)?;
    }
    f.write_str("]")
}
