//! Building tensors of any dtype from bytes and from runs of other tensors: [`Assembler`], [`Tensor::fill`],
//! [`Tensor::from_bytes`], [`Tensor::bitcast`].

use crate::budget::Charged;
use crate::buffer::{self, Blank, Buffer};
use crate::pace::{Pace, cheaply_paced};
use crate::tensor::Storage;
use crate::walk::by_width;
use crate::{Code, DType, Error, Result, Shape, Tensor, ensure, invalid};
use smallvec::SmallVec;

/// Builds a tensor front to back from runs of elements of other tensors, as Concat, Pack and Tile do.
pub struct Assembler {
    dtype: DType,
    shape: Shape,
    count: usize,
    /// The number of elements written so far, at most `count`.
    len: usize,
    storage: Storage,
    /// Whether the elements that are not yet written are zero.
    blank: Blank,
    pace: Pace,
}

impl std::fmt::Debug for Assembler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Assembler")
            .field("dtype", &self.dtype)
            .field("shape", &self.shape)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl Assembler {
    /// Starts a tensor of this dtype and shape.
    pub fn new(dtype: DType, shape: impl Into<Shape>) -> Result<Assembler> {
        let shape = shape.into();
        let count = shape.checked_elements()?;
        let mut blank = Blank(false);
        let storage = match (dtype, dtype.size()) {
            (_, Some(_)) => {
                let (buffer, is_blank) = any_bytes(dtype, count)?;
                blank = is_blank;
                Storage::Plain(buffer)
            }
            (DType::Str, _) => Storage::Str(Charged::with_room(count)?),
            (DType::Resource, _) => Storage::Handle(Charged::with_room(count)?),
            _ => Storage::Variant(Charged::with_room(count)?),
        };
        Ok(Assembler { dtype, shape, count, len: 0, storage, blank, pace: Pace::new() })
    }

    /// Appends elements `start..start + len` of `src`, in row-major order.
    pub fn push(&mut self, src: &Tensor, start: usize, len: usize) -> Result<()> {
        self.admit(src.dtype(), len)?;
        let end = start.checked_add(len).filter(|&end| end <= src.elements()).ok_or_else(|| {
            invalid!("elements {start}..{start}+{len} are out of range of {}{}", src.dtype(), src.shape())
        })?;
        let from = start..end;
        match (&mut self.storage, src.storage()) {
            (Storage::Plain(out), _) => {
                let (Some(bytes), Some(size)) = (src.as_bytes(), self.dtype.size()) else {
                    return Err(mixed());
                };
                let to = self.len * size..(self.len + len) * size;
                match (out.bytes_mut().get_mut(to), bytes.get(start * size..end * size)) {
                    (Some(to), Some(from)) => {
                        self.pace.spend(1)?;
                        cheaply_paced(to.len(), |range| to[range.clone()].copy_from_slice(&from[range]))?;
                    }
                    _ => return Err(mixed()),
                }
            }
            (Storage::Str(out), _) => out.extend_from_slice(part(src.as_strs(), from)?)?,
            (Storage::Handle(out), _) => out.extend_from_slice(part(src.as_handles(), from)?)?,
            (Storage::Variant(out), _) => out.extend_from_slice(part(src.as_variants(), from)?)?,
            (Storage::Foreign(_), _) => return Err(mixed()),
        }
        self.len += len;
        Ok(())
    }

    /// Cuts each part into `outer` equal runs, and appends the first run of every part, then the second of
    /// every part, and so on.
    pub fn push_interleaved(&mut self, parts: &[Tensor], outer: usize) -> Result<()> {
        let whole = parts.iter().all(|part| part.elements().checked_rem(outer) == Some(0));
        ensure!(whole, "the parts cannot be cut into {outer} equal runs");
        let plain: Option<SmallVec<[&[u8]; 8]>> = parts.iter().map(Tensor::as_bytes).collect();
        let (Some(sources), Storage::Plain(out)) = (plain, &mut self.storage) else {
            for (i, part) in (0..outer).flat_map(|i| parts.iter().map(move |part| (i, part))) {
                let run = part.elements() / outer;
                self.push(part, i * run, run)?;
            }
            return Ok(());
        };
        // For plain data, the usual case, storage and sources are looked up once.
        let (size, total) =
            (self.dtype.size().ok_or_else(mixed)?, parts.iter().map(Tensor::elements).sum::<usize>());
        ensure!(parts.iter().all(|part| part.dtype() == self.dtype), "the parts are not all {}", self.dtype);
        ensure!(total <= self.count - self.len, "{total} elements are too many for shape {}", self.shape);
        let mut to = out.bytes_mut().get_mut(self.len * size..(self.len + total) * size).ok_or_else(mixed)?;
        for i in 0..outer {
            for bytes in &sources {
                let run = bytes.len() / outer;
                let (here, rest) = to.split_at_mut(run);
                self.pace.spend_copying(run)?;
                here.copy_from_slice(&bytes[i * run..(i + 1) * run]);
                to = rest;
            }
        }
        self.len += total;
        Ok(())
    }

    /// Appends the one element of `value` `count` times.
    pub fn push_fill(&mut self, value: &Tensor, count: usize) -> Result<()> {
        self.admit(value.dtype(), count)?;
        one(value)?;
        match &mut self.storage {
            Storage::Plain(out) => {
                let (Some(bytes), Some(size)) = (value.as_bytes(), self.dtype.size()) else {
                    return Err(mixed());
                };
                let to = self.len * size..(self.len + count) * size;
                let to = out.bytes_mut().get_mut(to).ok_or_else(mixed)?;
                if !self.blank.0 || bytes.iter().any(|&b| b != 0) {
                    by_width!(size, W => {
                        let word = <W as buffer::Word>::read(bytes).ok_or_else(mixed)?;
                        let words = buffer::as_words_mut::<W>(to).ok_or_else(mixed)?;
                        cheaply_paced(words.len(), |range| words[range].fill(word))?;
                    });
                }
            }
            Storage::Str(out) => extend(out, value.as_strs(), count)?,
            Storage::Handle(out) => extend(out, value.as_handles(), count)?,
            Storage::Variant(out) => extend(out, value.as_variants(), count)?,
            Storage::Foreign(_) => return Err(mixed()),
        }
        self.len += count;
        Ok(())
    }

    /// Returns the tensor; an error unless the number of appended elements is that of the shape.
    pub fn finish(self) -> Result<Tensor> {
        ensure!(
            self.len == self.count,
            "shape {} has {} elements but {} were added",
            self.shape,
            self.count,
            self.len
        );
        match self.storage {
            Storage::Plain(buffer) => Ok(Tensor::from_buffer(self.dtype, self.shape, buffer)),
            storage => Tensor::charged(self.dtype, self.shape, storage),
        }
    }

    fn admit(&self, dtype: DType, len: usize) -> Result<()> {
        ensure!(dtype == self.dtype, "elements of {dtype} cannot go into a tensor of {}", self.dtype);
        ensure!(
            len <= self.count - self.len,
            "shape {} has {} elements but {} + {len} are added",
            self.shape,
            self.count,
            self.len
        );
        Ok(())
    }
}

impl Tensor {
    /// Returns a tensor of `shape` filled with the one element of `value`.
    pub fn fill(shape: impl Into<Shape>, value: &Tensor) -> Result<Tensor> {
        let shape = shape.into();
        let count = shape.checked_elements()?;
        let mut out = Assembler::new(value.dtype(), shape)?;
        out.push_fill(value, count)?;
        out.finish()
    }

    /// Returns a tensor of plain data from its bytes, in the machine's byte order. Refuses a bool that is
    /// neither 0 nor 1.
    pub fn from_bytes(dtype: DType, shape: impl Into<Shape>, bytes: &[u8]) -> Result<Tensor> {
        let shape = shape.into();
        let size =
            dtype.size().ok_or_else(|| invalid!("{dtype} is not plain data: it has no bytes to read"))?;
        let wanted = shape.checked_elements()?.checked_mul(size);
        ensure!(
            wanted == Some(bytes.len()),
            "{dtype}{shape} takes {} bytes of {size} per element but {} were given",
            wanted.unwrap_or(usize::MAX),
            bytes.len()
        );
        if dtype == DType::Bool
            && let Some(i) = bytes.iter().position(|&b| b > 1)
        {
            return Err(invalid!("byte {} at index {i} is not a bool: it must be 0 or 1", bytes[i]));
        }
        Ok(Tensor::from_buffer(dtype, shape, Buffer::copy_of(bytes)?))
    }

    /// Reinterprets the bytes as elements of another dtype; shares them where possible. Both dtypes must be
    /// plain data, and the byte counts must agree. There is no bitcast to bool, as most bytes are not valid
    /// bools.
    pub fn bitcast(&self, dtype: DType, shape: impl Into<Shape>) -> Result<Tensor> {
        let shape = shape.into();
        if dtype == self.dtype() {
            return self.reshape(shape);
        }
        ensure!(
            dtype != DType::Bool,
            "{} cannot be bitcast to bool: most bytes are not valid bools",
            self.dtype()
        );
        let bytes = self
            .as_bytes()
            .ok_or_else(|| invalid!("{} is not plain data: it cannot be bitcast", self.dtype()))?;
        let wanted = dtype.size().and_then(|size| shape.checked_elements().ok()?.checked_mul(size));
        ensure!(
            wanted == Some(bytes.len()),
            "{}{} of {} bytes cannot be bitcast to {dtype}{shape}, which takes a different number of bytes",
            self.dtype(),
            self.shape(),
            bytes.len()
        );
        match self.share_as(dtype, &shape) {
            Some(shared) => Ok(shared),
            None => Tensor::from_bytes(dtype, shape, bytes),
        }
    }

    /// Whether dtype, shape and every bit agree: a NaN equals itself; 0.0 and -0.0 differ. Strings are
    /// compared by bytes, handles and variants by identity.
    pub fn bits_eq(&self, other: &Tensor) -> bool {
        fn all<T>(a: Option<&[T]>, b: Option<&[T]>, same: impl Fn(&T, &T) -> bool) -> bool {
            matches!((a, b), (Some(a), Some(b)) if a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)))
        }
        self.dtype() == other.dtype()
            && self.shape() == other.shape()
            && match self.dtype() {
                DType::Str => self.as_strs() == other.as_strs(),
                DType::Resource => all(self.as_handles(), other.as_handles(), |a, b| a.same(b)),
                DType::Variant => all(self.as_variants(), other.as_variants(), |a, b| a.same(b)),
                _ => self.as_bytes() == other.as_bytes(),
            }
    }
}

/// Memory for `count` elements of plain data with arbitrary contents; the caller writes all of them.
pub(crate) fn any_bytes(dtype: DType, count: usize) -> Result<(Buffer, Blank)> {
    let size = dtype.size().ok_or_else(mixed)?;
    let bytes = count.checked_mul(size).filter(|&b| b <= isize::MAX as usize);
    Buffer::any_bytes(dtype, bytes.ok_or_else(|| too_many(count))?)
}

fn too_many(count: usize) -> Error {
    Error::new(Code::ResourceExhausted, format!("cannot allocate {count} elements"))
}

/// Returns an error unless `value` has one element.
pub(crate) fn one(value: &Tensor) -> Result<()> {
    ensure!(
        value.elements() == 1,
        "expected one element to fill with, got {}{}",
        value.dtype(),
        value.shape()
    );
    Ok(())
}

fn part<T>(cells: Option<&[T]>, range: std::ops::Range<usize>) -> Result<&[T]> {
    cells.and_then(|c| c.get(range)).ok_or_else(mixed)
}

fn extend<T: Clone>(out: &mut Charged<T>, value: Option<&[T]>, count: usize) -> Result<()> {
    let [value] = value.ok_or_else(mixed)? else { return Err(mixed()) };
    out.reserve(out.len() + count)?;
    out.resize_with(out.len() + count, || value.clone())
}

/// The error for a tensor whose storage contradicts its dtype and shape.
pub(crate) fn mixed() -> Error {
    Error::internal("a tensor's storage does not fit its dtype and shape")
}
