//! Aligned, untyped memory for plain elements, and (with `foreign`, for memory of others) the only `unsafe` of this crate.
//!
//! A [`Buffer`] is `len` bytes at an address that [`ALIGN`] divides, all of them initialised. Typed views are given
//! out for element types that [`Element`] admits; that trait is sealed, and its contract (below) is what makes the
//! views sound: no padding, alignment at most [`ALIGN`], and any bytes that one element wrote are valid for it.
//! A bool buffer holds only 0 and 1 because it is only ever written as `bool`s or copied from bool buffers whole.
#![expect(unsafe_code, reason = "the one place where raw memory is given types")]

mod foreign;

pub(crate) use foreign::Foreign;
pub use foreign::Loan;

use crate::budget::Charge;
use crate::{Code, DType, Element, Error, Result};
use parking_lot::Mutex;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::ops::RangeInclusive;
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
        let size = Class::of(len).map_or(len, Class::size);
        Layout::from_size_align(size, ALIGN)
            .map_err(|_| Error::new(Code::ResourceExhausted, format!("{len} bytes cannot be addressed")))
    }

    fn allocate(len: usize, zero: bool) -> Result<(Buffer, Blank)> {
        let charge = Charge::take(len)?;
        let layout = Self::layout(len)?;
        let class = Class::of(len);
        if let Some(ptr) = class.map_or_else(|| Spare::take(layout), Small::take) {
            if zero {
                // SAFETY: a block of this class or layout has `len` bytes and is nobody else's any more.
                unsafe { ptr.write_bytes(0, len) };
            }
            return Ok((Buffer { ptr, len, _charge: charge }, Blank(zero)));
        }
        // What may be used again is initialised from the start, whatever becomes of who was to write it.
        let zero = zero || class.is_some() || KEPT.contains(&len);
        // SAFETY: the layout's size is at least 1.
        let ptr = unsafe { if zero { alloc_zeroed(layout) } else { alloc(layout) } };
        let ptr = NonNull::new(ptr).ok_or_else(|| {
            Error::new(Code::ResourceExhausted, format!("the system has no {len} bytes left"))
        })?;
        Ok((Buffer { ptr, len, _charge: charge }, Blank(zero)))
    }

    /// `len` bytes of `dtype` for who writes all of them: whatever values were there before, where that is known to be valid.
    pub(crate) fn any_bytes(dtype: DType, len: usize) -> Result<(Buffer, Blank)> {
        let any_bits_are_valid = dtype != DType::Bool;
        let initialised = Class::of(len).is_some() || KEPT.contains(&len);
        Self::allocate(len, !(any_bits_are_valid && initialised))
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
        Self::zeroed_bytes(Self::bytes_for::<T>(count)?)
    }

    /// `len` zero bytes.
    pub(crate) fn zeroed_bytes(len: usize) -> Result<Buffer> {
        Ok(Self::allocate(len, true)?.0)
    }

    /// The first `count` elements that `values` yields; zeros where it yields fewer.
    #[inline]
    pub fn collect<T: Element>(count: usize, values: impl IntoIterator<Item = T>) -> Result<Buffer> {
        let (buffer, _) = Self::allocate(Self::bytes_for::<T>(count)?, false)?;
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
        let (buffer, _) = Self::allocate(Self::bytes_for::<T>(values.len())?, false)?;
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
        if Class::of(self.len).is_some_and(|class| Small::keep(class, self.ptr)) {
            return;
        }
        if let Ok(layout) = Self::layout(self.len) {
            Spare { ptr: self.ptr, layout, by: this_thread() }.keep();
        }
    }
}

/// Whether memory holds zeros.
pub(crate) struct Blank(pub bool);

/// Lengths that share small blocks: eight classes from one power of two to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Class(u32);

impl Class {
    const SMALLEST: usize = 64;
    const LARGEST: usize = *KEPT.start() - 1;
    const COUNT: usize = Class::that_holds(Class::LARGEST).0 as usize + 1;

    /// The class of blocks for so many bytes; none if they are too large.
    #[inline]
    const fn of(len: usize) -> Option<Class> {
        if len <= Class::LARGEST { Some(Class::that_holds(len)) } else { None }
    }

    #[inline]
    const fn that_holds(len: usize) -> Class {
        let last = if len < Class::SMALLEST { Class::SMALLEST } else { len } - 1;
        let power = last.ilog2();
        // The power's number, and the three bits that follow its first.
        Class((power - 5) * 8 + ((last >> (power - 3)) & 7) as u32)
    }

    /// How large its blocks are.
    #[inline]
    const fn size(self) -> usize {
        (8 + (self.0 as usize & 7) + 1) << (self.0 / 8 + 5 - 3)
    }
}

/// Small blocks that a thread's buffers have left, by class. A loop makes and drops them in every iteration, and aligned blocks are what
/// allocators are slow at: a fifth of the time of w4 with 128 floats.
struct Small {
    classes: [Vec<NonNull<u8>>; Class::COUNT],
    bytes: usize,
}

thread_local! {
    static SMALL: RefCell<Small> =
        const { RefCell::new(Small { classes: [const { Vec::new() }; Class::COUNT], bytes: 0 }) };
}

impl Small {
    /// How many bytes a thread keeps. No budget is charged for them.
    const MOST: usize = 4 << 20;

    /// A block of this class, all its bytes initialised.
    #[inline]
    fn take(class: Class) -> Option<NonNull<u8>> {
        let take = SMALL.try_with(|small| {
            let mut small = small.try_borrow_mut().ok()?;
            let ptr = small.classes.get_mut(class.0 as usize)?.pop()?;
            small.bytes -= class.size();
            Some(ptr)
        });
        take.ok()?
    }

    /// Keeps a block of this class; false if there are enough.
    #[inline]
    fn keep(class: Class, ptr: NonNull<u8>) -> bool {
        let keep = SMALL.try_with(|small| {
            let Ok(mut small) = small.try_borrow_mut() else { return false };
            let bytes = small.bytes + class.size();
            match small.classes.get_mut(class.0 as usize) {
                Some(blocks) if bytes <= Small::MOST => blocks.push(ptr),
                _ => return false,
            }
            small.bytes = bytes;
            true
        });
        keep.unwrap_or(false)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        for (i, blocks) in self.classes.iter().enumerate() {
            let Ok(layout) = Layout::from_size_align(Class(i as u32).size(), ALIGN) else { continue };
            for ptr in blocks {
                // SAFETY: blocks of this class were allocated with this very layout, and nobody else has them.
                unsafe { dealloc(ptr.as_ptr(), layout) };
            }
        }
    }
}

/// A block of memory that a buffer has left and another of the same length may have. A loop makes the same tensors again
/// and again; the system's allocator gives large blocks back to the kernel and asks for them anew, and every page of them costs a
/// fault (256 KiB: 64 of them, 20 us, as long as to sum them).
struct Spare {
    ptr: NonNull<u8>,
    layout: Layout,
    /// The thread that left it: its caches may still hold it.
    by: usize,
}

/// The lengths of blocks that are kept for all threads: below, each thread keeps its own ([`Small`]); above, the work on them takes far longer than the
/// faults.
const KEPT: RangeInclusive<usize> = 1 << 16..=1 << 24;
/// How many bytes are kept in all; beyond, what was kept longest goes. No budget is charged for them.
const MOST_KEPT: usize = 1 << 25;

/// The blocks kept, the oldest first.
struct Spares {
    blocks: VecDeque<Spare>,
    bytes: usize,
}

/// For the whole process, since buffers go between threads and sessions. The lock is held for a look at a few dozen entries, and nothing
/// is locked beneath it.
static SPARES: Mutex<Spares> = Mutex::new(Spares { blocks: VecDeque::new(), bytes: 0 });

// SAFETY: a spare block is owned like a buffer, and nobody looks into it.
unsafe impl Send for Spare {}

impl Spare {
    /// A block of this layout, all its bytes initialised; sooner one that this thread has left.
    fn take(layout: Layout) -> Option<NonNull<u8>> {
        if !KEPT.contains(&layout.size()) {
            return None;
        }
        let me = this_thread();
        let mut spares = SPARES.lock();
        let find = |fits: &dyn Fn(&Spare) -> bool| spares.blocks.iter().rposition(fits);
        let at = find(&|s| s.layout == layout && s.by == me).or_else(|| find(&|s| s.layout == layout))?;
        let spare = ManuallyDrop::new(spares.blocks.remove(at)?);
        spares.bytes -= layout.size();
        Some(spare.ptr)
    }

    /// Keeps it, if it is of a length that is kept, and lets go what becomes too much.
    fn keep(self) {
        let mut gone = Vec::new();
        if KEPT.contains(&self.layout.size()) {
            let mut spares = SPARES.lock();
            spares.bytes += self.layout.size();
            spares.blocks.push_back(self);
            while spares.bytes > MOST_KEPT
                && let Some(oldest) = spares.blocks.pop_front()
            {
                spares.bytes -= oldest.layout.size();
                gone.push(oldest);
            }
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        // SAFETY: allocated with this very layout, and owned.
        unsafe { dealloc(self.ptr.as_ptr(), self.layout) };
    }
}

/// A number that no other living thread has.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here) as usize)
}

/// Tells the processor that `slice[index]` will be read soon; nothing if there is no such element.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which reads nothing: any address will do.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(slice.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_used_again_and_zeroed_where_zeros_are_asked_for() {
        // A length that no other test has.
        let len = 77_777;
        let old = Buffer::copy_of(&vec![7u8; len]).unwrap();
        let at = old.ptr;
        drop(old);
        let (stale, _) = Buffer::any_bytes(DType::U8, len).unwrap();
        assert_eq!((stale.ptr, stale.bytes()[len - 1]), (at, 7));
        drop(stale);
        let zeros = Buffer::zeroed::<u8>(len).unwrap();
        assert_eq!(zeros.ptr, at);
        assert!(zeros.bytes().iter().all(|b| *b == 0));
    }

    #[test]
    fn bools_never_see_what_others_left() {
        let len = 88_888;
        drop(Buffer::copy_of(&vec![7u8; len]).unwrap());
        assert!(Buffer::any_bytes(DType::Bool, len).unwrap().0.bytes().iter().all(|b| *b == 0));
    }

    #[test]
    fn what_a_panic_left_unwritten_is_initialised_all_the_same() {
        let len = 99_999;
        let values = (0..len).map(|i| if i < 10 { 7u8 } else { std::panic::resume_unwind(Box::new(())) });
        assert!(std::panic::catch_unwind(|| Buffer::collect(len, values)).is_err());
        let (next, _) = Buffer::any_bytes(DType::U8, len).unwrap();
        assert_eq!(next.bytes()[..12], [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 0, 0]);
    }

    #[test]
    fn no_more_is_kept_than_allowed() {
        let buffers: Vec<Buffer> = (0..9).map(|_| Buffer::zeroed::<u8>(*KEPT.end()).unwrap()).collect();
        drop(buffers);
        let spares = SPARES.lock();
        assert_eq!(spares.bytes, spares.blocks.iter().map(|s| s.layout.size()).sum::<usize>());
        assert!(spares.bytes <= MOST_KEPT);
    }

    #[test]
    fn every_small_length_fits_its_class() {
        for len in 0..=Class::LARGEST {
            let class = Class::of(len).unwrap();
            assert!(
                len <= class.size() && class.size() <= len.max(57) * 9 / 8 + 7,
                "{len}: {}",
                class.size()
            );
            assert!((class.0 as usize) < Class::COUNT, "{len}");
        }
        assert_eq!(Class::of(Class::LARGEST + 1), None);
    }

    #[test]
    fn small_blocks_are_used_again_and_zeroed_where_zeros_are_asked_for() {
        let old = Buffer::copy_of(&[7u8; 1000]).unwrap();
        let at = old.ptr;
        drop(old);
        let (stale, Blank(blank)) = Buffer::any_bytes(DType::U8, 990).unwrap();
        assert_eq!((stale.ptr, blank, stale.bytes()[900]), (at, false, 7));
        drop(stale);
        assert!(Buffer::any_bytes(DType::Bool, 1000).unwrap().0.bytes().iter().all(|b| *b == 0));
        let zeros = Buffer::zeroed::<u8>(1000).unwrap();
        assert_eq!((zeros.ptr, zeros.bytes()), (at, &[0; 1000][..]));
    }

    #[test]
    fn no_more_small_blocks_are_kept_than_allowed() {
        drop((0..200).map(|_| Buffer::zeroed::<u8>(60_000).unwrap()).collect::<Vec<_>>());
        SMALL.with(|small| assert!(small.borrow().bytes <= Small::MOST));
    }
}
