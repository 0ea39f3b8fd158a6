//! The ways in which long work looks at the deadline and the cancellation of its run: [`look`], [`Pace`],
//! [`paced`].
//!
//! The run that a thread works for is a property of the thread, like its budget
//! ([`crate::budget::enter_run`]), so loops anywhere can look without being handed anything. The loops that
//! many kernels share call [`paced`] or keep a [`Pace`]. Short work never reads the clock, and long work
//! reads it about once a millisecond.

use crate::budget;
use crate::{Error, Result};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Something that may call off the work of a thread.
pub trait Stop: Send + Sync {
    /// The reason, once the work is called off. Cheap, and takes no lock before that.
    fn reason(&self) -> Option<Error>;

    /// Asks the code that may call the work off, which may take longer. It is not asked while memory is
    /// allocated, only where work [looks](look).
    fn ask(&self) -> Option<Error> {
        self.reason()
    }
}

thread_local! {
    /// Apart from the budget in force, because a value with a destructor is slower to reach.
    static STOP: Cell<Option<Arc<dyn Stop>>> = const { Cell::new(None) };
}

/// Puts `stop` in force on this thread. Returns the previous one.
pub(crate) fn replace(stop: Option<Arc<dyn Stop>>) -> Option<Arc<dyn Stop>> {
    // A thread that is ending has nothing to stop any more.
    STOP.try_with(|s| s.replace(stop)).unwrap_or(None)
}

/// What may stop this thread's work, for work that continues on another.
pub(crate) fn current() -> Option<Arc<dyn Stop>> {
    let stop = replace(None);
    replace(stop.clone());
    stop
}

/// The reason, if this thread's work is called off.
pub(crate) fn called_off() -> Option<Error> {
    with_stop(|stop| stop.reason())
}

fn with_stop(question: fn(&dyn Stop) -> Option<Error>) -> Option<Error> {
    let stop = replace(None)?;
    let answer = question(&*stop);
    replace(Some(stop));
    answer
}

/// A guard: while it lives, neither a deadline nor a cancellation ends this thread's work. For changes of
/// what outlives the run, which are whole or not at all.
#[must_use = "the work is only uninterrupted while the guard lives"]
pub struct Uninterrupted {
    deadline: Option<Instant>,
    stop: Option<Arc<dyn Stop>>,
    /// The guard stays on its thread.
    _here: PhantomData<*const ()>,
}

impl std::fmt::Debug for Uninterrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Uninterrupted").field("deadline", &self.deadline).finish_non_exhaustive()
    }
}

/// See [`Uninterrupted`].
#[inline]
pub fn uninterrupted() -> Uninterrupted {
    Uninterrupted { deadline: budget::replace_deadline(None), stop: replace(None), _here: PhantomData }
}

impl Drop for Uninterrupted {
    #[inline]
    fn drop(&mut self) {
        budget::replace_deadline(self.deadline);
        replace(self.stop.take());
    }
}

/// An error if the run that this thread works for has passed its deadline or was called off. Takes about 30
/// nanoseconds.
pub fn look() -> Result<()> {
    look_at(Instant::now())
}

fn look_at(now: Instant) -> Result<()> {
    if budget::deadline().is_some_and(|deadline| deadline <= now) {
        return Err(budget::too_late());
    }
    with_stop(|stop| stop.ask()).map_or(Ok(()), Err)
}

/// Counts work in elements or steps, and [looks](look) about once a millisecond, however long an element
/// takes.
///
/// ```
/// # use millstream_tensor::pace::Pace;
/// # fn harmonic() -> millstream_tensor::Result<f64> {
/// let (mut pace, mut sum) = (Pace::new(), 0.0);
/// for i in 1..100_000 {
///     pace.spend(1)?;
///     sum += 1.0 / i as f64;
/// }
/// # Ok(sum)
/// # }
/// # assert!(harmonic().is_ok_and(|sum| 12.0 < sum));
/// ```
#[derive(Debug)]
pub struct Pace {
    /// What may still be done before the next look.
    left: usize,
    /// What is done between two looks; 0 until something is counted.
    stretch: usize,
    /// The time of the last look.
    last: Option<Instant>,
}

/// The work before the first look: about a microsecond of the cheapest elements, and less than 100 ms of any.
const FIRST: usize = 4096;
/// The least work between two looks.
const LEAST: usize = 256;
/// Between two looks that are closer to each other than this, more is done the next time.
const SHORT: Duration = Duration::from_millis(1);
/// Between two looks that are further apart than this, less is done the next time.
const LONG: Duration = Duration::from_millis(10);

impl Pace {
    /// Counts from zero. What is counted before the first look is short work of the thread.
    #[inline]
    pub const fn new() -> Pace {
        Pace { left: 0, stretch: 0, last: None }
    }

    /// Counts `work` elements that are done or about to be done. An error if it is time to look and the run
    /// is over.
    #[inline]
    pub fn spend(&mut self, work: usize) -> Result<()> {
        match self.left.checked_sub(work) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.turn(),
        }
    }

    /// As [`Pace::spend`], for a run of elements that are copied.
    #[inline]
    pub(crate) fn spend_copying(&mut self, run: usize) -> Result<()> {
        self.spend(1 + run / CHEAP)
    }

    /// Looks, and decides how much to do before the next look.
    #[cold]
    fn turn(&mut self) -> Result<()> {
        if self.stretch == 0 {
            short(FIRST)?;
            (self.left, self.stretch) = (FIRST, FIRST);
            return Ok(());
        }
        let now = Instant::now();
        look_at(now)?;
        match self.last.replace(now).map(|last| now.saturating_duration_since(last)) {
            Some(took) if took < SHORT => self.stretch = self.stretch.saturating_mul(2),
            Some(took) if LONG < took => self.stretch = (self.stretch / 2).max(LEAST),
            _ => {}
        }
        self.left = self.stretch;
        Ok(())
    }
}

thread_local! {
    /// What is left of the short work before the next look. A kernel can have millions of pieces that are too
    /// short to look by themselves, one for each small matrix or row, so all of them look together.
    static SHORT_WORK: Cell<usize> = const { Cell::new(MOST_SHORT) };
}

/// The short work between two looks: it takes at least as long as a few hundred looks, and less than 100 ms
/// if an element takes less than 3 us.
const MOST_SHORT: usize = 8 * FIRST;

/// Counts a short piece of work that is done or about to be done, at most [`FIRST`] elements.
fn short(work: usize) -> Result<()> {
    SHORT_WORK.with(|left| match left.get().checked_sub(work) {
        Some(less) => {
            left.set(less);
            Ok(())
        }
        None => {
            left.set(MOST_SHORT);
            look()
        }
    })
}

/// A guard: while it lives, short work on this thread looks, or runs to its end, whatever it did before.
#[derive(Debug)]
#[must_use = "short work is as before once the guard is dropped"]
pub struct ShortWork {
    before: usize,
    /// The guard stays on its thread.
    _here: PhantomData<*const ()>,
}

impl ShortWork {
    fn with(left: usize) -> ShortWork {
        ShortWork { before: SHORT_WORK.replace(left), _here: PhantomData }
    }

    /// Short work runs to its end. For kernels that change something: one that has taken an element, and
    /// puts it together in many short pieces, would lose it between two of them.
    #[inline]
    pub fn runs_on() -> ShortWork {
        ShortWork::with(usize::MAX)
    }

    /// Short work looks. For functions that such kernels call.
    #[inline]
    pub fn looks() -> ShortWork {
        ShortWork::with(MOST_SHORT)
    }
}

impl Drop for ShortWork {
    #[inline]
    fn drop(&mut self) {
        SHORT_WORK.set(self.before);
    }
}

impl Default for Pace {
    fn default() -> Self {
        Pace::new()
    }
}

/// Calls `work` with consecutive ranges that make up `0..n`, and [looks](look) in between. All ranges but the
/// last have a length that is a power of two, at least 256.
#[inline]
pub fn paced(n: usize, mut work: impl FnMut(Range<usize>)) -> Result<()> {
    if n <= FIRST {
        short(n)?;
        work(0..n);
        return Ok(());
    }
    try_paced(n, |range| {
        work(range);
        Ok(())
    })
}

/// As [`paced`], for work that takes less than a nanosecond an element: copies and fills.
#[inline]
pub(crate) fn cheaply_paced(n: usize, mut work: impl FnMut(Range<usize>)) -> Result<()> {
    if n <= CHEAP * FIRST {
        short(n / CHEAP)?;
        work(0..n);
        return Ok(());
    }
    paced(n.div_ceil(CHEAP), |range| work(range.start * CHEAP..n.min(range.end * CHEAP)))
}

/// The number of elements that are copied in about the time in which one is computed.
const CHEAP: usize = 16;

/// As [`paced`], for work that may fail. The work is behind a pointer, since kernels have a thousand such
/// loops, and all but a call for each range is the same in each of them.
pub fn try_paced(n: usize, mut work: impl FnMut(Range<usize>) -> Result<()>) -> Result<()> {
    in_ranges(n, &mut work)
}

fn in_ranges(n: usize, work: &mut dyn FnMut(Range<usize>) -> Result<()>) -> Result<()> {
    short(n.min(FIRST))?;
    let mut pace = Pace { left: FIRST, stretch: FIRST, last: None };
    let mut at = 0;
    loop {
        let end = at + pace.stretch.min(n - at);
        work(at..end)?;
        if end == n {
            return Ok(());
        }
        at = end;
        pace.turn()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{enter_run, enter_until};
    use crate::{Code, MIRI};
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    struct Flag(AtomicBool);

    impl Stop for Flag {
        fn reason(&self) -> Option<Error> {
            self.0.load(Relaxed).then(|| Error::new(Code::Cancelled, "called off"))
        }
    }

    #[test]
    fn ranges_make_up_the_whole() {
        for n in [0, 1, 4096, 4097, 1_000_000 / MIRI] {
            let mut at = 0;
            paced(n, |range| {
                assert_eq!(range.start, at);
                assert!(range.end == n || range.len().is_power_of_two() && 256 <= range.len());
                at = range.end;
            })
            .unwrap();
            assert_eq!(at, n);
        }
    }

    #[test]
    fn ranges_of_copies_make_up_the_whole() {
        for n in [0, 65_536, 65_537, 65_537 + 1_000_000 / MIRI] {
            let mut at = 0;
            cheaply_paced(n, |range| {
                assert_eq!(range.start, at);
                at = range.end;
            })
            .unwrap();
            assert_eq!(at, n);
        }
    }

    #[test]
    fn long_work_ends_with_the_deadline() {
        let start = Instant::now();
        let _entered = enter_until(None, Some(start + Duration::from_millis(20)));
        let mut n = 0u64;
        let error = paced(usize::MAX, |range| n = range.fold(n, |n, i| n ^ i as u64)).unwrap_err();
        assert_eq!(error.code(), Code::DeadlineExceeded);
        let mut pace = Pace::new();
        let error = (0..usize::MAX).find_map(|_| pace.spend(1).err()).unwrap();
        assert_eq!(error.code(), Code::DeadlineExceeded);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }

    /// Of many short pieces none would look by itself.
    #[test]
    fn short_pieces_end_with_the_deadline_too() {
        let pieces: [fn() -> Result<()>; 4] = [
            || Pace::new().spend(3),
            || paced(100, |range| _ = std::hint::black_box(range)),
            || try_paced(100, |_| Ok(())),
            || cheaply_paced(100, |range| _ = std::hint::black_box(range)),
        ];
        for piece in pieces {
            let start = Instant::now();
            let _entered = enter_until(None, Some(start + Duration::from_millis(20)));
            let error = std::iter::repeat_with(piece).find_map(Result::err).unwrap();
            assert_eq!(error.code(), Code::DeadlineExceeded);
            assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        }
    }

    #[test]
    fn short_pieces_of_what_changes_something_run_on() {
        let _entered = enter_until(None, Some(Instant::now()));
        let many = || (0..8 * FIRST).try_for_each(|_| Pace::new().spend(3));
        {
            let _on = ShortWork::runs_on();
            assert!(many().is_ok());
            {
                let _looks = ShortWork::looks();
                assert_eq!(many().unwrap_err().code(), Code::DeadlineExceeded);
            }
            assert!(many().is_ok());
        }
        assert_eq!(many().unwrap_err().code(), Code::DeadlineExceeded);
    }

    #[test]
    fn work_is_called_off_from_elsewhere() {
        let flag = Arc::new(Flag(AtomicBool::new(false)));
        let entered = enter_run(None, None, flag.clone());
        assert!(look().is_ok());
        {
            let _inner = enter_run(None, None, Arc::new(Flag(AtomicBool::new(true))));
            assert_eq!(look().unwrap_err().code(), Code::Cancelled);
        }
        assert!(look().is_ok());
        flag.0.store(true, Relaxed);
        assert_eq!(look().unwrap_err().code(), Code::Cancelled);
        let here = budget::here();
        let elsewhere = std::thread::scope(|s| {
            let there = s.spawn(|| {
                let before = look();
                let _entered = here.enter();
                (before, look())
            });
            there.join().unwrap()
        });
        assert!(elsewhere.0.is_ok() && elsewhere.1.is_err());
        {
            let _uninterrupted = uninterrupted();
            assert!(look().is_ok());
        }
        assert!(look().is_err());
        drop(entered);
        assert!(look().is_ok());
    }
}
