//! Moving elements without interpreting them: the primitives under Gather, Transpose, Slice, Pad, Reverse and
//! the like.
//!
//! They work for every dtype. Plain data moves as words of the element's width, so there are five loops, not
//! twenty; strings, handles and variants are cloned. [`Assembler`](crate::Assembler) builds a tensor front to
//! back. Every range is checked before anything is copied.

use crate::assemble::{any_bytes, mixed};
use crate::budget::Charged;
use crate::buffer::{Buffer, as_words, as_words_mut};
use crate::pace::{Pace, paced};
use crate::tensor::Storage;
use crate::walk::{Strided, by_width, transpose};
use crate::{Assembler, Element, Error, Result, Shape, Tensor, ensure, invalid, with_element};
use smallvec::SmallVec;

impl Tensor {
    /// Returns `out[i0,i1,..] = self.flat[offset + i0 * strides[0] + i1 * strides[1] + ..]`. Strides count
    /// elements and may be 0 (repeat) or negative (reverse). An error if any index is out of range.
    pub fn strided(&self, shape: impl Into<Shape>, offset: isize, strides: &[isize]) -> Result<Tensor> {
        let shape = shape.into();
        let Some(space) = Strided::new(&shape, offset, strides, self.elements())? else {
            return Assembler::new(self.dtype(), shape)?.finish();
        };
        if self.as_scalar().is_some() {
            return Tensor::fill(shape, self);
        }
        let count = shape.elements();
        if let Some(start) = space.as_run() {
            return self.run(shape, start, count);
        }
        if let (Some(bytes), Some(size)) = (self.as_bytes(), self.dtype().size()) {
            let (mut out, _) = any_bytes(self.dtype(), count)?;
            by_width!(size, W => {
                let src = as_words::<W>(bytes).ok_or_else(mixed)?;
                space.gather(src, as_words_mut::<W>(out.bytes_mut()).ok_or_else(mixed)?)?;
            });
            return Ok(Tensor::from_buffer(self.dtype(), shape, out));
        }
        self.pick(shape, space.indices())
    }

    /// Returns the transpose of the matrix in `data` with this many rows and columns. Its rows start `pitch`
    /// elements apart. An error if its elements are not numbers or bools, or if it does not fit.
    pub fn transpose_of<T: Element>(data: &[T], [rows, cols]: [usize; 2], pitch: usize) -> Result<Tensor> {
        let end = rows.checked_sub(1).map_or(Some(0), |n| n.checked_mul(pitch)?.checked_add(cols));
        ensure!(
            cols <= pitch && end.is_some_and(|end| end <= data.len()),
            "{} elements do not hold {rows} rows of {cols} that start {pitch} apart",
            data.len()
        );
        let mut out = Tensor::anything(T::DTYPE, [cols, rows])?;
        let to = out.make_mut::<T>().ok_or_else(|| Error::internal("a fresh tensor is shared"))?;
        transpose(data, (0, pitch as isize), rows, cols, to, rows, &mut Pace::new())?;
        Ok(out)
    }

    /// Returns the elements at these flat indices, in this shape. An error if an index is out of range.
    pub fn take(&self, shape: impl Into<Shape>, indices: &[usize]) -> Result<Tensor> {
        self.take_runs(shape, 1, indices)
    }

    /// Returns runs of `run` contiguous elements one after another, in this shape. `starts` holds the flat
    /// index of each run's first element. An error if a run is out of range.
    pub fn take_runs(&self, shape: impl Into<Shape>, run: usize, starts: &[usize]) -> Result<Tensor> {
        let shape = shape.into();
        check_runs(&shape, run, starts, self.elements())?;
        let count = shape.elements();
        if count == 0 {
            return Assembler::new(self.dtype(), shape)?.finish();
        }
        if self.as_scalar().is_some() {
            return Tensor::fill(shape, self);
        }
        if let [start] = starts {
            return self.run(shape, *start, count);
        }
        let (Some(bytes), Some(size)) = (self.as_bytes(), self.dtype().size()) else {
            return self.pick(shape, starts.iter().flat_map(|&s| s..s + run));
        };
        let (mut out, _) = any_bytes(self.dtype(), count)?;
        if run == 1 {
            by_width!(size, W => {
                let src = as_words::<W>(bytes).ok_or_else(mixed)?;
                let out = as_words_mut::<W>(out.bytes_mut()).ok_or_else(mixed)?;
                paced(out.len(), |range| {
                    out[range.clone()].iter_mut().zip(&starts[range]).for_each(|(o, &s)| *o = src[s]);
                })?;
            });
        } else {
            let run = run * size;
            let mut pace = Pace::new();
            for (out, &s) in out.bytes_mut().chunks_exact_mut(run).zip(starts) {
                pace.spend_copying(run)?;
                out.copy_from_slice(&bytes[s * size..s * size + run]);
            }
        }
        Ok(Tensor::from_buffer(self.dtype(), shape, out))
    }

    /// Overwrites runs of `run` elements with the runs of `src`, in order. `starts` holds the flat index of
    /// each run's first element. Where runs overlap, the last one wins. Writes in place if nothing else
    /// shares the elements.
    pub fn scatter_runs(&mut self, run: usize, starts: &[usize], src: &Tensor) -> Result<()> {
        self.same_dtype(src)?;
        check_runs(src.shape(), run, starts, self.elements())?;
        if src.elements() == 0 {
            return Ok(());
        }
        self.write(|out| match out {
            Cells::Plain(out, size) => {
                let bytes = src.as_bytes().ok_or_else(mixed)?;
                let run = run * size;
                let mut pace = Pace::new();
                for (row, &s) in bytes.chunks_exact(run).zip(starts) {
                    pace.spend_copying(run)?;
                    out[s * size..s * size + run].copy_from_slice(row);
                }
                Ok(())
            }
            Cells::Opaque(out) => out.put(src, &mut starts.iter().flat_map(|&s| s..s + run)),
        })
    }

    /// Writes `self.flat[offset + sum i_k * strides[k]] = src[i0,i1,..]`, the inverse of [`Tensor::strided`].
    /// `shape` has as many elements as `src`. Writes in place if nothing else shares the elements.
    pub fn assign_strided(
        &mut self,
        offset: isize,
        strides: &[isize],
        shape: impl Into<Shape>,
        src: &Tensor,
    ) -> Result<()> {
        let shape = shape.into();
        self.same_dtype(src)?;
        ensure!(
            shape.checked_elements()? == src.elements(),
            "{} elements of shape {} cannot be assigned to a part of shape {shape}",
            src.elements(),
            src.shape()
        );
        let Some(space) = Strided::new(&shape, offset, strides, self.elements())? else { return Ok(()) };
        // An inline scalar need not be aligned as its words are.
        let dense;
        let src = match src.as_scalar() {
            Some(_) => {
                dense = src.reshape([1])?;
                &dense
            }
            None => src,
        };
        self.write(|out| match out {
            Cells::Plain(out, size) => {
                let bytes = src.as_bytes().ok_or_else(mixed)?;
                by_width!(size, W => {
                    let src = as_words::<W>(bytes).ok_or_else(mixed)?;
                    space.scatter(src, as_words_mut::<W>(out).ok_or_else(mixed)?)?;
                });
                Ok(())
            }
            Cells::Opaque(out) => out.put(src, &mut space.indices()),
        })
    }

    /// Broadcasts the tensor to this shape by NumPy's rule: axes of size 1 repeat, and new outer axes are
    /// added.
    pub fn broadcast_to(&self, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        if *self.shape() == shape {
            return Ok(self.clone());
        }
        let fits = self.shape().broadcast(&shape).is_some_and(|both| both == shape);
        ensure!(fits, "Incompatible shapes: {} vs. {shape}", self.shape(); "shape {} cannot be broadcast to {shape}", self.shape());
        if self.elements() == 1 {
            return Tensor::fill(shape, self);
        }
        let own = self.shape();
        let mut strides: SmallVec<[isize; 4]> = SmallVec::from_elem(0, shape.rank() - own.rank());
        strides.extend(own.iter().zip(own.strides()).map(|(&d, s)| if d == 1 { 0 } else { s as isize }));
        self.strided(shape, 0, &strides)
    }

    // Copies `count` elements from `start`, which are in range. This is the commonest case, so it does not
    // zero memory first, and a scalar of plain data takes no allocation.
    fn run(&self, shape: Shape, start: usize, count: usize) -> Result<Tensor> {
        let (Some(bytes), Some(size)) = (self.as_bytes(), self.dtype().size()) else {
            return self.pick(shape, start..start + count);
        };
        if shape.rank() == 0 {
            return with_element!(self.dtype(), T => {
                self.as_slice::<T>()?.get(start).map(|v| Tensor::scalar(*v)).ok_or_else(mixed)
            }, else => Err(mixed()));
        }
        let bytes = bytes.get(start * size..(start + count) * size).ok_or_else(mixed)?;
        Ok(Tensor::from_buffer(self.dtype(), shape, Buffer::copy_of(bytes)?))
    }

    // Clones elements that are not plain data; the indices are in range.
    fn pick(&self, shape: Shape, indices: impl Iterator<Item = usize>) -> Result<Tensor> {
        fn cloned<T: Clone>(
            cells: &[T],
            count: usize,
            indices: impl Iterator<Item = usize>,
        ) -> Result<Charged<T>> {
            let mut out = Charged::with_room(count)?;
            let mut pace = Pace::new();
            for cell in indices.filter_map(|i| cells.get(i)) {
                pace.spend(1)?;
                out.push(cell.clone())?;
            }
            if out.len() == count { Ok(out) } else { Err(mixed()) }
        }
        let count = shape.elements();
        let (storage, range) = self.storage().ok_or_else(mixed)?;
        let storage = match storage {
            Storage::Str(v) => Storage::Str(cloned(v.get(range).ok_or_else(mixed)?, count, indices)?),
            Storage::Handle(v) => Storage::Handle(cloned(v.get(range).ok_or_else(mixed)?, count, indices)?),
            Storage::Variant(v) => Storage::Variant(cloned(v.get(range).ok_or_else(mixed)?, count, indices)?),
            Storage::Plain(_) | Storage::Foreign(_) => return Err(mixed()),
        };
        Tensor::charged(self.dtype(), shape, storage)
    }

    fn same_dtype(&self, src: &Tensor) -> Result<()> {
        ensure!(
            self.dtype() == src.dtype(),
            "elements of {} cannot be written into {}{}",
            src.dtype(),
            self.dtype(),
            self.shape()
        );
        Ok(())
    }

    // Calls `write` on the elements, which are copied first if they are shared.
    fn write(&mut self, write: impl FnOnce(Cells) -> Result<()>) -> Result<()> {
        if self.as_scalar().is_some() {
            let mut vector = self.reshape([1])?;
            vector.write(write)?;
            *self = vector.into_shape(Shape::scalar())?;
            return Ok(());
        }
        if self.storage_mut().is_none() {
            let mut copy = Assembler::new(self.dtype(), self.shape().clone())?;
            copy.push(self, 0, self.elements())?;
            *self = copy.finish()?;
        }
        let size = self.dtype().size().unwrap_or(0);
        let (storage, range) = self.storage_mut().ok_or_else(|| Error::internal("a fresh copy is shared"))?;
        write(match storage {
            Storage::Plain(b) => {
                let bytes = b.bytes_mut().get_mut(range.start * size..range.end * size).ok_or_else(mixed)?;
                Cells::Plain(bytes, size)
            }
            Storage::Str(v) => Cells::Opaque(Opaque::Str(v.get_mut(range).ok_or_else(mixed)?)),
            Storage::Handle(v) => Cells::Opaque(Opaque::Handle(v.get_mut(range).ok_or_else(mixed)?)),
            Storage::Variant(v) => Cells::Opaque(Opaque::Variant(v.get_mut(range).ok_or_else(mixed)?)),
            Storage::Foreign(_) => return Err(mixed()),
        })
    }
}

/// Elements to write to: bytes and the width of an element, or opaque elements.
enum Cells<'a> {
    Plain(&'a mut [u8], usize),
    Opaque(Opaque<'a>),
}

enum Opaque<'a> {
    Str(&'a mut [crate::Str]),
    Handle(&'a mut [crate::Handle]),
    Variant(&'a mut [crate::Variant]),
}

impl Opaque<'_> {
    /// Writes the elements of `src` in order to the positions that `indices` yields.
    fn put(self, src: &Tensor, indices: &mut dyn Iterator<Item = usize>) -> Result<()> {
        fn each<T: Clone>(
            out: &mut [T],
            src: Option<&[T]>,
            indices: &mut dyn Iterator<Item = usize>,
        ) -> Result<()> {
            let mut pace = Pace::new();
            for (v, i) in src.ok_or_else(mixed)?.iter().zip(indices) {
                pace.spend(1)?;
                *out.get_mut(i).ok_or_else(mixed)? = v.clone();
            }
            Ok(())
        }
        match self {
            Opaque::Str(out) => each(out, src.as_strs(), indices),
            Opaque::Handle(out) => each(out, src.as_handles(), indices),
            Opaque::Variant(out) => each(out, src.as_variants(), indices),
        }
    }
}

/// Returns an error unless `starts.len()` runs fill `shape` and each is within `0..len`.
fn check_runs(shape: &Shape, run: usize, starts: &[usize], len: usize) -> Result<()> {
    let count = shape.checked_elements()?;
    ensure!(
        run.checked_mul(starts.len()) == Some(count),
        "{} runs of {run} elements do not fit shape {shape} of {count} elements",
        starts.len()
    );
    let last = len.checked_sub(run);
    match starts.iter().find(|&&s| last.is_none_or(|last| s > last)) {
        Some(s) => Err(invalid!("elements {s}..{s}+{run} are out of range: there are {len}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
