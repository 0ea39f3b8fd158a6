//! Aligned, untyped memory for plain elements. Together with `foreign`, which handles borrowed memory, this
//! is the only `unsafe` code of the crate.
//!
//! A [`Buffer`] is `len` initialised bytes at an address that is a multiple of [`ALIGN`]. Typed views exist
//! for the types that implement [`Element`]. That trait is sealed, and its contract makes the views sound: no
//! padding, alignment at most [`ALIGN`], and any bytes that one element wrote are valid for it. A bool buffer
//! holds only 0 and 1, because it is only ever written as `bool`s or copied whole from bool buffers.
#![expect(unsafe_code, reason = "the one place where raw memory is given types")]

mod foreign;

pub(crate) use foreign::Foreign;
pub use foreign::Loan;

use crate::budget::{self, Charge};
use crate::pace;
use crate::{Code, DType, Element, Error, Result, Tensor};
use parking_lot::Mutex;
use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::mem::ManuallyDrop;
use std::ops::RangeInclusive;
use std::ptr::NonNull;

/// The alignment of every buffer. No cache line or vector register straddles a buffer's start.
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
        let class = Class::of(len);
        let size = class.map_or(len, Class::size);
        let charge = Charge::take(size.saturating_add(Tensor::HEADER))?;
        let layout = Self::layout(len)?;
        if let Some(ptr) = class.map_or_else(|| Spare::take(layout), Small::take) {
            if zero {
                // SAFETY: a block of this class or layout has at least `len` bytes and belongs to nothing
                // else.
                unsafe { ptr.write_bytes(0, len) };
            }
            return Ok((Buffer { ptr, len, _charge: charge }, Blank(zero)));
        }
        // A block that may be used again is initialised from the start, even if the code that was to write it
        // fails.
        let zero = zero || class.is_some() || KEPT.contains(&len);
        let huge = *KEPT.end() < len;
        // SAFETY: the layout's size is at least 1.
        let ptr = unsafe { if zero && !huge { alloc_zeroed(layout) } else { alloc(layout) } };
        let ptr = NonNull::new(ptr).ok_or_else(|| {
            Spare::lost(layout);
            Error::new(Code::ResourceExhausted, format!("the system cannot allocate {len} bytes"))
        })?;
        let buffer = Buffer { ptr, len, _charge: charge };
        if zero && huge {
            // For blocks of this alignment, `alloc_zeroed` writes all bytes in one go: seconds for many GB.
            // Dropping the buffer reads none of its bytes, should the run be over.
            pace::cheaply_paced(len, |range| {
                // SAFETY: the range is within 0..len, and the block has `len` bytes.
                unsafe { ptr.add(range.start).write_bytes(0, range.len()) };
            })?;
        }
        Ok((buffer, Blank(zero)))
    }

    /// `len` bytes of `dtype` with arbitrary contents, for callers that write all of them: stale bytes where
    /// any bytes are valid, otherwise zeros.
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

    /// A buffer of `count` elements whose bytes are all zero (0, 0.0, false).
    pub fn zeroed<T: Element>(count: usize) -> Result<Buffer> {
        Self::zeroed_bytes(Self::bytes_for::<T>(count)?)
    }

    /// A buffer of `len` zero bytes.
    pub(crate) fn zeroed_bytes(len: usize) -> Result<Buffer> {
        Ok(Self::allocate(len, true)?.0)
    }

    /// A buffer of the first `count` elements that `values` yields, with zeros where it yields fewer.
    #[inline]
    pub fn collect<T: Element>(count: usize, values: impl IntoIterator<Item = T>) -> Result<Buffer> {
        let (buffer, _) = Self::allocate(Self::bytes_for::<T>(count)?, false)?;
        let base = buffer.ptr.as_ptr().cast::<T>();
        let mut n = 0;
        let mut values = values.into_iter();
        // The buffer is not visible outside until all elements are written. Should `values` panic, or the
        // run be over, dropping the buffer reads none of its bytes.
        pace::paced(count, |range| {
            for v in values.by_ref().take(range.len()) {
                // SAFETY: the ranges make up 0..count, and `take` yields no more than the length of each, so
                // n < count. The allocation holds `count` aligned elements.
                unsafe { base.add(n).write(v) };
                n += 1;
            }
        })?;
        if n < count {
            pace::cheaply_paced(count - n, |range| {
                // SAFETY: elements n..count lie inside the allocation; zero bytes are valid for all Elements.
                unsafe { base.add(n + range.start).write_bytes(0, range.len()) };
            })?;
        }
        Ok(buffer)
    }

    /// A buffer that holds a copy of `values`.
    pub fn copy_of<T: Element>(values: &[T]) -> Result<Buffer> {
        let (buffer, _) = Self::allocate(Self::bytes_for::<T>(values.len())?, false)?;
        let base = buffer.ptr.as_ptr().cast::<T>();
        // Dropping the buffer reads none of its bytes, should the run be over.
        pace::cheaply_paced(values.len(), |range| {
            // SAFETY: the range is within 0..values.len(). The new allocation has room for as many elements
            // and overlaps nothing.
            unsafe {
                base.add(range.start).copy_from_nonoverlapping(values[range.clone()].as_ptr(), range.len())
            };
        })?;
        Ok(buffer)
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: this buffer owns ptr..ptr+len, and all of it is initialised.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr(), self.len) }
    }

    /// The bytes, mutably. Crate-only: the caller writes whole elements, and only 0 and 1 to bool buffers.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: this buffer owns ptr..ptr+len; all of it is initialised, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.ptr.as_ptr(), self.len) }
    }

    /// The elements. Crate-only: the caller knows that the buffer holds `T`s.
    #[inline]
    pub(crate) fn typed<T: Element>(&self) -> &[T] {
        // SAFETY: the pointer is aligned for T (ALIGN >= align_of T); the bytes are initialised and, as the
        // caller guarantees, were written as T.
        unsafe { std::slice::from_raw_parts(self.ptr.as_ptr().cast(), self.len / size_of::<T>()) }
    }

    /// The elements, mutably. Crate-only, as [`Buffer::typed`].
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
            Spare { ptr: self.ptr, layout, by: this_thread(), since: 0 }.keep();
        }
    }
}

/// Whether a block of memory is all zeros.
pub(crate) struct Blank(pub bool);

/// A size class of small blocks. There are eight classes from each power of two to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Class(u32);

impl Class {
    const SMALLEST: usize = 64;
    const LARGEST: usize = *KEPT.start() - 1;
    const COUNT: usize = Class::that_holds(Class::LARGEST).0 as usize + 1;

    /// The class of blocks for `len` bytes; `None` if `len` is too large for a small block.
    #[inline]
    const fn of(len: usize) -> Option<Class> {
        if len <= Class::LARGEST { Some(Class::that_holds(len)) } else { None }
    }

    #[inline]
    const fn that_holds(len: usize) -> Class {
        let last = if len < Class::SMALLEST { Class::SMALLEST } else { len } - 1;
        let power = last.ilog2();
        // The class is made of the power's number and the three bits below the highest.
        Class((power - 5) * 8 + ((last >> (power - 3)) & 7) as u32)
    }

    /// The size of the class's blocks.
    #[inline]
    const fn size(self) -> usize {
        (8 + (self.0 as usize & 7) + 1) << (self.0 / 8 + 5 - 3)
    }
}

/// Small blocks that buffers of this thread have freed, by class. A loop allocates and drops them in every
/// iteration, and allocators are slow at aligned blocks: without this, a fifth of the time of w4 with 128
/// floats.
struct Small {
    classes: [Vec<NonNull<u8>>; Class::COUNT],
    bytes: usize,
}

thread_local! {
    static SMALL: RefCell<Small> =
        const { RefCell::new(Small { classes: [const { Vec::new() }; Class::COUNT], bytes: 0 }) };
}

impl Small {
    /// The most bytes that a thread keeps. No budget is charged for them.
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

    /// Keeps a block of this class. Returns false, without keeping it, if there are enough.
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
                // SAFETY: blocks of this class were allocated with this very layout, and nothing else owns
                // them.
                unsafe { dealloc(ptr.as_ptr(), layout) };
            }
        }
    }
}

/// A freed block of memory that another buffer of the same length may take. A loop makes the same tensors
/// again and again. The system's allocator returns large blocks to the kernel and requests new ones, and
/// every new page costs a fault (256 KiB: 64 faults, 20 us, as long as summing the elements).
struct Spare {
    ptr: NonNull<u8>,
    layout: Layout,
    /// The thread that freed the block: its caches may still hold it.
    by: usize,
    /// The number of blocks that were kept before it.
    since: u64,
}

/// The lengths of blocks that are kept for all threads. Below, each thread keeps its own ([`Small`]); above,
/// work on a block takes far longer than its page faults.
const KEPT: RangeInclusive<usize> = 1 << 16..=1 << 24;
/// The most bytes that are always kept; beyond it, the blocks kept longest are freed. No budget is charged
/// for them, so where one is in force, they may be a sixteenth of its limit.
const MOST_KEPT: usize = 1 << 25;
/// The most bytes that are kept of those that were in use at one time. What a recurrent net saves for its
/// gradient is allocated again in every step: the training step of an LSTM (100 steps, batch of 64, 256
/// units) frees 60 MB.
const MOST_KEPT_OF_MUCH: usize = 1 << 27;

/// The blocks kept, by size, the oldest of each first.
struct Spares {
    blocks: BTreeMap<usize, VecDeque<Spare>>,
    bytes: usize,
    /// The bytes of blocks of such sizes that are in use.
    used: usize,
    /// The most that were in use, forgotten bit by bit.
    most_used: usize,
    /// The number of blocks kept so far.
    n: u64,
}

/// One store for the whole process, since buffers move between threads and sessions. The lock is held while a
/// few dozen entries are searched, and no other lock is taken under it.
static SPARES: Mutex<Spares> =
    Mutex::new(Spares { blocks: BTreeMap::new(), bytes: 0, used: 0, most_used: 0, n: 0 });

// SAFETY: a spare block is owned like a buffer, and nothing reads it.
unsafe impl Send for Spare {}

impl Spares {
    /// How many of the blocks of a size are looked at for one that this thread freed.
    const LOOKED_AT: usize = 16;
    /// The divisor of the decay: each kept block lowers `most_used` by this part of its excess over `used`. A
    /// test keeps that many blocks; Miri takes milliseconds for each.
    const FORGETS: usize = 1 << if cfg!(miri) { 10 } else { 16 };

    fn take(&mut self, layout: Layout) -> Option<Spare> {
        self.used += layout.size();
        self.most_used = self.most_used.max(self.used);
        let blocks = self.blocks.get_mut(&layout.size())?;
        let me = this_thread();
        let at = blocks.iter().rev().take(Spares::LOOKED_AT).position(|spare| spare.by == me);
        let spare = blocks.remove(blocks.len().checked_sub(at.unwrap_or(0) + 1)?)?;
        self.bytes -= layout.size();
        Some(spare)
    }

    /// Keeps a block. Returns those that are too many now.
    fn keep(&mut self, mut spare: Spare) -> Vec<Spare> {
        let size = spare.layout.size();
        self.used = self.used.saturating_sub(size);
        self.most_used -= self.most_used.saturating_sub(self.used) / Spares::FORGETS;
        self.n += 1;
        self.bytes += size;
        spare.since = self.n;
        self.blocks.entry(size).or_default().push_back(spare);
        let most = MOST_KEPT.max(MOST_KEPT_OF_MUCH.min(self.most_used.saturating_sub(self.used)));
        let most = budget::limit_here().map_or(most, |limit| most.min(limit / 16));
        let mut gone = Vec::new();
        while most < self.bytes
            && let Some(oldest) = self.oldest()
        {
            self.bytes -= oldest.layout.size();
            gone.push(oldest);
        }
        gone
    }

    fn oldest(&mut self) -> Option<Spare> {
        let since = |(_, blocks): &(&usize, &VecDeque<Spare>)| blocks.front().map_or(u64::MAX, |it| it.since);
        let (&size, _) = self.blocks.iter().min_by_key(since)?;
        let blocks = self.blocks.get_mut(&size)?;
        let oldest = blocks.pop_front();
        if blocks.is_empty() {
            self.blocks.remove(&size);
        }
        oldest
    }
}

impl Spare {
    /// A block of this layout, all its bytes initialised. A block that this thread freed comes first.
    fn take(layout: Layout) -> Option<NonNull<u8>> {
        if !KEPT.contains(&layout.size()) {
            return None;
        }
        let spare = SPARES.lock().take(layout)?;
        Some(ManuallyDrop::new(spare).ptr)
    }

    /// There is no block of this layout, though one was to be taken.
    fn lost(layout: Layout) {
        if KEPT.contains(&layout.size()) {
            SPARES.lock().used -= layout.size();
        }
    }

    /// Keeps the block if its length is one that is kept, and frees the oldest blocks beyond the limit.
    fn keep(self) {
        if KEPT.contains(&self.layout.size()) {
            let gone = SPARES.lock().keep(self);
            // Freed without the lock.
            drop(gone);
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        // SAFETY: allocated with this very layout, and owned.
        unsafe { dealloc(self.ptr.as_ptr(), self.layout) };
    }
}

/// A number that is unique among living threads.
fn this_thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here) as usize)
}

/// Tells the processor that `slice[index]` will be read soon. Does nothing if there is no such element.
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

/// The bytes of the elements of `slice`.
pub(crate) fn slice_bytes<T: Element>(slice: &[T]) -> &[u8] {
    // SAFETY: Elements have no padding, so all their bytes are initialised.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// An element as two words: its bytes, then zeros.
#[inline(always)]
pub(crate) fn to_words<T: Element>(value: T) -> [u64; 2] {
    let mut bytes = [0; 16];
    bytes[..size_of::<T>()].copy_from_slice(slice_bytes(std::slice::from_ref(&value)));
    <[u64; 2]>::read(&bytes).unwrap_or_default()
}

/// The element that [`to_words`] made these words from. The caller guarantees that it was a `T`.
#[inline(always)]
pub(crate) fn in_words<T: Element>(words: &[u64; 2]) -> &T {
    const { assert!(size_of::<T>() <= 16 && align_of::<T>() <= 8) };
    // SAFETY: by the assertion, the words have the size and alignment that a T needs; as the caller
    // guarantees, they hold the bytes of one.
    unsafe { &*words.as_ptr().cast() }
}

/// The element in these words, mutably; see [`in_words`].
#[inline(always)]
pub(crate) fn in_words_mut<T: Element>(words: &mut [u64; 2]) -> &mut T {
    const { assert!(size_of::<T>() <= 16 && align_of::<T>() <= 8) };
    // SAFETY: as in `in_words`; writing any T leaves the words initialised, since an Element has no padding.
    unsafe { &mut *words.as_mut_ptr().cast() }
}

/// An unsigned integer as wide as an element. Kernels that only move elements copy words, whatever the type.
pub(crate) trait Word: Copy {
    /// The word made of these bytes; `None` if their number is not the word's size.
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

/// The bytes of whole elements as words of their width; `None` if the length or the alignment does not fit.
pub(crate) fn as_words<W: Word>(bytes: &[u8]) -> Option<&[W]> {
    // SAFETY: any bytes are valid words; `align_to` itself finds the aligned middle.
    let (head, words, tail) = unsafe { bytes.align_to::<W>() };
    (head.is_empty() && tail.is_empty()).then_some(words)
}

/// The same as [`as_words`], mutably. The caller writes only words that are valid elements.
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
        // A length that no other test uses.
        let len = 77_777;
        let old = Buffer::copy_of(&vec![7u8; len]).unwrap();
        let at = old.ptr;
        drop(old);
        let (stale, _) = Buffer::any_bytes(DType::U8, len).unwrap();
        assert_eq!((stale.ptr, stale.bytes()[len - 1]), (at, 7));
        drop(stale);
        let zeros = Buffer::zeroed::<u8>(len).unwrap();
        assert_eq!(zeros.ptr, at);
        assert!(zeros.bytes() == vec![0; len]);
    }

    /// Clearing a block takes a second for a few GB.
    #[test]
    fn clearing_a_huge_block_ends_with_the_deadline() {
        let len = *KEPT.end() + 3;
        let mut wanted = vec![0; len];
        assert!(Buffer::zeroed::<u8>(len).unwrap().bytes() == wanted);
        wanted[..2].copy_from_slice(&[1, 2]);
        assert!(Buffer::collect(len, [1u8, 2]).unwrap().bytes() == wanted);
        let _over = budget::enter_until(None, Some(std::time::Instant::now()));
        let error = Buffer::zeroed::<u8>(len).unwrap_err();
        assert_eq!(error.code(), Code::DeadlineExceeded);
    }

    #[test]
    fn bools_never_see_what_others_left() {
        let len = 88_888;
        drop(Buffer::copy_of(&vec![7u8; len]).unwrap());
        assert!(Buffer::any_bytes(DType::Bool, len).unwrap().0.bytes() == vec![0; len]);
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
        let kept = spares.blocks.values().flatten().map(|s| s.layout.size()).sum::<usize>();
        assert_eq!(spares.bytes, kept);
        assert!(kept <= MOST_KEPT_OF_MUCH, "{kept}");
    }

    #[test]
    fn what_was_in_use_is_kept_and_then_forgotten() {
        let block = |size| {
            let layout = Layout::from_size_align(size, ALIGN).unwrap();
            // SAFETY: the layout's size is not zero.
            let ptr = NonNull::new(unsafe { alloc(layout) }).unwrap();
            Spare { ptr, layout, by: this_thread(), since: 0 }
        };
        let mut spares = Spares { blocks: BTreeMap::new(), bytes: 0, used: 0, most_used: 0, n: 0 };
        let (size, n) = (1 << 20, 40);
        let layout = Layout::from_size_align(size, ALIGN).unwrap();
        for _ in 0..n {
            assert!(spares.take(layout).is_none());
        }
        let gone: usize = (0..n).map(|_| spares.keep(block(size)).len()).sum();
        assert!(gone <= 1 && spares.bytes == (n - gone) * size, "{gone} {}", spares.bytes);
        // A program that now needs little gives the rest back.
        let small = Layout::from_size_align(1 << 16, ALIGN).unwrap();
        for _ in 0..Spares::FORGETS {
            let spare = spares.take(small).unwrap_or_else(|| block(small.size()));
            drop(spares.keep(spare));
        }
        assert!(spares.bytes <= MOST_KEPT, "{}", spares.bytes);
        // The oldest blocks went first.
        assert!(spares.blocks.contains_key(&small.size()));
    }

    #[test]
    fn every_small_length_fits_its_class() {
        for len in (0..=Class::LARGEST).step_by(if cfg!(miri) { 97 } else { 1 }) {
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
