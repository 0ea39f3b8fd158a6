//! [`Loans`]: what a run has taken out of objects that outlive it, and returns if it is called off.
//!
//! An element that a run took, and whose run is over before anything came of it, would be lost: the caller
//! of the run has an error instead of it. So the run holds it until its end. If the run was called off
//! (its deadline passed, it was cancelled, or its caller interrupted it) the element returns.
//!
//! A run that has changed a variable or a queue has used all that it took before: an element that returned
//! then might count twice. A run that fails for another reason has used its elements, too, as in TensorFlow:
//! an element that makes a node fail would come again and again.

use crate::queue::Loan;
use crate::sync::{AtomicBool, Mutex, Ordering::*};
use millstream_tensor::{Code, Error};
use std::collections::VecDeque;
use std::fmt;

/// The bytes that a run may hold. A loop may take any number of elements. Those that exceed this are used,
/// the oldest first, but for the last one of each source.
const MOST_BYTES: usize = 1 << 20;

/// The bytes of a loan besides its content.
const ENTRY: usize = 128;

/// What a run holds until its end.
#[derive(Default)]
pub struct Loans {
    /// Whether there are any. Kernels that change something look at this first.
    any: AtomicBool,
    called_off: AtomicBool,
    /// Guards only itself. No loan ends under it.
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    loans: VecDeque<Entry>,
    bytes: usize,
}

struct Entry {
    source: usize,
    bytes: usize,
    loan: Box<dyn Loan>,
}

impl Loans {
    /// Holds a loan of `bytes` bytes. `source` is a number of the object that it came from.
    pub fn hold(&self, source: usize, bytes: usize, loan: Box<dyn Loan>) {
        let mut used = Vec::new();
        let mut held = self.held.lock();
        let bytes = bytes.saturating_add(ENTRY);
        held.bytes = held.bytes.saturating_add(bytes);
        held.loans.push_back(Entry { source, bytes, loan });
        while MOST_BYTES < held.bytes
            && let Some(entry) = held.take_oldest()
        {
            used.push(entry.loan);
        }
        self.any.store(true, Release);
        drop(held);
        used.into_iter().for_each(Loan::used);
    }

    /// The run has used what it took.
    pub fn used(&self) {
        if self.any.load(Acquire) {
            self.take().into_iter().for_each(|entry| entry.loan.used());
        }
    }

    /// The caller has interrupted the run: what it holds returns, whatever the code of the run's error.
    pub fn call_off(&self) {
        self.called_off.store(true, Release);
    }

    /// The run has ended, with this error if it failed.
    pub fn end(&self, error: Option<&Error>) {
        let called_off = self.called_off.swap(false, AcqRel);
        let called_off =
            |e: &Error| called_off || matches!(e.code(), Code::Cancelled | Code::DeadlineExceeded);
        match error.is_some_and(called_off) {
            true => self.take().into_iter().rev().for_each(|entry| entry.loan.unused()),
            false => self.used(),
        }
    }

    fn take(&self) -> VecDeque<Entry> {
        let mut held = self.held.lock();
        self.any.store(false, Release);
        std::mem::take(&mut *held).loans
    }
}

impl Held {
    /// Takes the oldest loan of a source that a later one came from.
    fn take_oldest(&mut self) -> Option<Entry> {
        let has_later = |i: &usize| self.loans.range(i + 1..).any(|e| e.source == self.loans[*i].source);
        let i = (0..self.loans.len()).find(has_later)?;
        let entry = self.loans.remove(i)?;
        self.bytes = self.bytes.saturating_sub(entry.bytes);
        Some(entry)
    }
}

impl fmt::Debug for Loans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loans").field("held", &self.held.lock().loans.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Notes what becomes of it.
    #[derive(Debug)]
    struct Noted(&'static str, Arc<Mutex<Vec<String>>>);

    impl Loan for Noted {
        fn used(self: Box<Self>) {
            self.1.lock().push(format!("{} used", self.0));
        }

        fn unused(self: Box<Self>) {
            self.1.lock().push(format!("{} back", self.0));
        }
    }

    #[track_caller]
    fn check(bytes: &[(&'static str, usize, usize)], end: impl FnOnce(&Loans), expect: &[&str]) {
        let (loans, notes) = (Loans::default(), Arc::default());
        for &(name, source, bytes) in bytes {
            loans.hold(source, bytes, Box::new(Noted(name, Arc::clone(&notes))));
        }
        end(&loans);
        assert_eq!(*notes.lock(), expect);
        loans.end(Some(&late()));
        assert_eq!(notes.lock().len(), expect.len(), "what has ended ends once");
    }

    fn late() -> Error {
        Error::new(Code::DeadlineExceeded, "late")
    }

    #[test]
    fn a_run_that_is_called_off_returns_what_it_took() {
        let two = [("a", 1, 0), ("b", 1, 0)];
        check(&two, |l| l.end(None), &["a used", "b used"]);
        check(&two, |l| l.end(Some(&Error::invalid("no"))), &["a used", "b used"]);
        check(&two, |l| l.end(Some(&late())), &["b back", "a back"]);
        check(&two, |l| l.end(Some(&Error::new(Code::Cancelled, "stop"))), &["b back", "a back"]);
        check(&two, Loans::used, &["a used", "b used"]);
        let interrupted = |l: &Loans| {
            l.call_off();
            l.end(Some(&Error::new(Code::Unknown, "interrupted")));
        };
        check(&two, interrupted, &["b back", "a back"]);
    }

    #[test]
    fn a_run_that_ended_is_no_longer_called_off() {
        let ends = |l: &Loans| {
            l.call_off();
            l.end(None);
            l.hold(1, 0, Box::new(Noted("b", Arc::default())));
            l.end(Some(&Error::invalid("no")));
        };
        check(&[("a", 1, 0)], ends, &["a used"]);
    }

    #[test]
    fn a_run_holds_a_megabyte_and_the_last_loan_of_each_source() {
        let end = |l: &Loans| l.end(Some(&late()));
        let (most, large) = (MOST_BYTES - 3 * ENTRY, MOST_BYTES);
        check(&[("a", 1, 0), ("b", 1, 0), ("c", 1, most)], end, &["c back", "b back", "a back"]);
        check(&[("a", 1, 1), ("b", 1, 0), ("c", 1, most)], end, &["a used", "c back", "b back"]);
        check(&[("a", 1, large), ("b", 2, large)], end, &["b back", "a back"]);
        let four = [("a", 1, large), ("b", 2, large), ("c", 2, 0), ("d", 1, 0)];
        check(&four, end, &["b used", "a used", "d back", "c back"]);
    }
}
