//! Aligned, untyped memory for plain elements, and the only `unsafe` of this crate.
//!
//! A [`Buffer`] is `len` bytes at an address that [`ALIGN`] divides, all of them initialised. Typed views are given
//! out for element types that [`Element`] admits; that trait is sealed, and its contract (below) is what makes the
//! views sound: no padding, alignment at most [`ALIGN`], and any bytes that one element wrote are valid for it.
//! A bool buffer holds only 0 and 1 because it is only ever written as `bool`s or copied from bool buffers whole.
#![expect(unsafe_code, reason = "the one place where raw memory is given types")]

use crate::budget::Charge;
use crate::{Code, Element, Error, Result};
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Every buffer starts at a multiple of this, so that a cache line or a vector register never straddles its start.
pub const ALIGN: usize = 64;

/// `len` initialised bytes, aligned to [`ALIGN`].
#[derive(Debug)]
pub struct Buffer {
    ptr: NonNull<u8>,
    len: usize,
    _charge: Charge,
}

// SAFETY: a buffer owns its bytes; shared references only read them and exclusive ones are exclusive.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    fn layout(len: usize) -> Result<Layout> {
        Layout::from_size_align(len.max(1), ALIGN)
            .map_err(|_| Error::new(Code::ResourceExhausted, format!("{len} bytes cannot be addressed")))
    }

    fn allocate(len: usize, zero: bool) -> Result<Buffer> {
        let layout = Self::layout(len)?;
        let charge = Charge::take(len)?;
        // SAFETY: the layout's size is at least 1.
        let ptr = unsafe { if zero { alloc_zeroed(layout) } else { alloc(layout) } };
        let ptr = NonNull::new(ptr).ok_or_else(|| {
            Error::new(Code::ResourceExhausted, format!("the system has no {len} bytes left"))
        })?;
        Ok(Buffer { ptr, len, _charge: charge })
    }

    fn bytes_for<T: Element>(count: usize) -> Result<usize> {
        count.checked_mul(size_of::<T>()).filter(|&b| b <= isize::MAX as usize).ok_or_else(|| {
            Error::new(
                Code::ResourceExhausted,
                format!("{count} elements of {} cannot be addressed", T::DTYPE),
            )
        })
    }

    /// `count` elements whose bytes are all zero (0, 0.0, false).
    pub fn zeroed<T: Element>(count: usize) -> Result<Buffer> {
        Self::allocate(Self::bytes_for::<T>(count)?, true)
    }

    /// `len` zero bytes.
    pub(crate) fn zeroed_bytes(len: usize) -> Result<Buffer> {
        Self::allocate(len, true)
    }

    /// The first `count` elements that `values` yields; zeros where it yields fewer.
    #[inline]
    pub fn collect<T: Element>(count: usize, values: impl IntoIterator<Item = T>) -> Result<Buffer> {
        let buffer = Self::allocate(Self::bytes_for::<T>(count)?, false)?;
        let base = buffer.ptr.as_ptr().cast::<T>();
        let mut n = 0;
        // Until all elements are written nobody else sees the buffer. Should `values` panic, dropping it reads none of its bytes.
        for v in values.into_iter().take(count) {
            // SAFETY: n < count, as `take` yields no more, and the allocation holds `count` aligned elements.
            unsafe { base.add(n).write(v) };
            n += 1;
        }
        if n < count {
            // SAFETY: elements n..count lie inside the allocation; zero bytes are valid for every Element.
            unsafe { base.add(n).write_bytes(0, count - n) };
        }
        Ok(buffer)
    }

    /// A copy of `values`.
    pub fn copy_of<T: Element>(values: &[T]) -> Result<Buffer> {
        let buffer = Self::allocate(Self::bytes_for::<T>(values.len())?, false)?;
        // SAFETY: the new allocation has room for `values.len()` elements and overlaps nothing.
        unsafe { buffer.ptr.as_ptr().cast::<T>().copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Ok(buffer)
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: ptr..ptr+len is ours and initialised.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }

    /// The bytes, to write whole elements into. Crate-only: the caller keeps bool buffers to 0 and 1.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: ptr..ptr+len is ours, initialised, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) }
    }

    /// The elements. Crate-only: the caller knows that the buffer holds `T`s.
    #[inline]
    pub(crate) fn typed<T: Element>(&self) -> &[T] {
        // SAFETY: the pointer is aligned for T (ALIGN >= align_of T), the bytes are initialised and, by the caller's
        // word, were written as T.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr().cast(), self.len / size_of::<T>()) }
    }

    /// The elements, to change. Crate-only, as [`Buffer::typed`].
    #[inline]
    pub(crate) fn typed_mut<T: Element>(&mut self) -> &mut [T] {
        // SAFETY: as `typed`, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr().cast(), self.len / size_of::<T>()) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Ok(layout) = Self::layout(self.len) {
            // SAFETY: allocated with this very layout.
            unsafe { dealloc(self.ptr.as_ptr(), layout) };
        }
    }
}

/// The elements of `slice` as the bytes they are made of.
pub(crate) fn slice_bytes<T: Element>(slice: &[T]) -> &[u8] {
    // SAFETY: Elements have no padding, so all their bytes are initialised.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// An element as two whole words: its bytes, then zeros.
#[inline(always)]
pub(crate) fn to_words<T: Element>(value: T) -> [u64; 2] {
    let mut bytes = [0; 16];
    bytes[..size_of::<T>()].copy_from_slice(slice_bytes(std::slice::from_ref(&value)));
    <[u64; 2]>::read(&bytes).unwrap_or_default()
}

/// The element that [`to_words`] made these of. The caller knows that it was a `T`.
#[inline(always)]
pub(crate) fn in_words<T: Element>(words: &[u64; 2]) -> &T {
    const { assert!(size_of::<T>() <= 16 && align_of::<T>() <= 8) };
    // SAFETY: the words are as large and as aligned as a T needs, by the assertion, and hold, by the caller's word, the bytes
    // of one.
    unsafe { &*words.as_ptr().cast() }
}

/// As [`in_words`], to change.
#[inline(always)]
pub(crate) fn in_words_mut<T: Element>(words: &mut [u64; 2]) -> &mut T {
    const { assert!(size_of::<T>() <= 16 && align_of::<T>() <= 8) };
    // SAFETY: as in `in_words`; whatever T is written leaves initialised words, since an Element has no padding.
    unsafe { &mut *words.as_mut_ptr().cast() }
}

/// An unsigned integer as wide as an element: what movement kernels copy when they need not know the type.
pub(crate) trait Word: Copy {
    /// The word that these bytes make; `None` if they are not as many as it has.
    fn read(bytes: &[u8]) -> Option<Self>;
}

macro_rules! words {
    ($($t:ty),*) => { $(
        impl Word for $t {
            fn read(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(<$t>::from_ne_bytes)
            }
        }
    )* };
}
words!(u8, u16, u32, u64);

impl Word for [u64; 2] {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (low, high) = bytes.split_at_checked(8)?;
        Some([u64::read(low)?, u64::read(high)?])
    }
}

/// The bytes of whole elements as words of their width; `None` when length or alignment do not fit.
pub(crate) fn as_words<W: Word>(bytes: &[u8]) -> Option<&[W]> {
    // SAFETY: any bytes are valid words; `align_to` itself finds the aligned middle.
    let (head, words, tail) = unsafe { bytes.align_to::<W>() };
    (head.is_empty() && tail.is_empty()).then_some(words)
}

/// As [`as_words`], to write. The caller writes only words that are valid elements.
pub(crate) fn as_words_mut<W: Word>(bytes: &mut [u8]) -> Option<&mut [W]> {
    // SAFETY: as in `as_words`.
    let (head, words, tail) = unsafe { bytes.align_to_mut::<W>() };
    (head.is_empty() && tail.is_empty()).then_some(words)
}
