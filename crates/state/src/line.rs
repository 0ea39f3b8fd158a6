//! [`Line`]: a state, and the attempts that wait for it to change.
//!
//! An attempt looks at the state and either does its work or waits. Whenever the state has changed, the
//! attempts that wait look again, in the order in which they came. Staging areas and mutexes are lines.
//!
//! What an attempt took out of the state comes as [`Lent`]. If nobody uses it, because the run is over when
//! it arrives, the attempt's work is undone.

use crate::cancel::{Cancellation, Registration};
use crate::closures::Closed;
use millstream_tensor::{Error, Opaque, Result, Tensor};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Weak};

/// The values that an attempt ends with.
pub type Given = SmallVec<[Tensor; 2]>;

/// An attempt's work; `None` means that it has to wait.
pub type Work<T> = Box<dyn FnMut(&mut T) -> Option<Result<Outcome<T>>> + Send>;

/// Takes an attempt's work back.
pub type Undo<T> = Box<dyn FnOnce(&mut T) + Send>;

/// What an attempt's work has done: the values, and how to take the work back if nobody uses them.
pub struct Outcome<T> {
    /// The values.
    pub given: Given,
    /// `None` for work that stays done, as that of an attempt that puts something into the state.
    pub undo: Option<Undo<T>>,
}

impl<T> From<Given> for Outcome<T> {
    fn from(given: Given) -> Outcome<T> {
        Outcome { given, undo: None }
    }
}

impl<T> fmt::Debug for Outcome<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { given, undo } = self;
        f.debug_struct("Outcome").field("given", given).field("undo", &undo.is_some()).finish()
    }
}

/// The values of an attempt. They are the receiver's once it calls [`Lent::used`]. If the value drops before
/// that, the work of the attempt is undone.
#[must_use = "the work of an attempt whose values are not used is undone"]
pub struct Lent<T: Send + 'static> {
    outcome: Outcome<T>,
    home: Weak<Line<T>>,
}

impl<T: Send + 'static> Lent<T> {
    /// Takes the values for good.
    pub fn used(mut self) -> Given {
        self.outcome.undo = None;
        std::mem::take(&mut self.outcome.given)
    }
}

impl<T: Send + 'static> Deref for Lent<T> {
    type Target = [Tensor];

    fn deref(&self) -> &[Tensor] {
        &self.outcome.given
    }
}

impl<T: Send + 'static> fmt::Debug for Lent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").field("outcome", &self.outcome).finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Drop for Lent<T> {
    fn drop(&mut self) {
        if let (Some(undo), Some(line)) = (self.outcome.undo.take(), self.home.upgrade()) {
            line.change(undo);
        }
    }
}

type Ended<T> = Box<dyn FnOnce(Result<Lent<T>>) + Send>;

struct Attempt<T: Send + 'static> {
    id: u64,
    work: Work<T>,
    ended: Ended<T>,
    /// Calls the attempt off when its run is cancelled. `None` until the listener is registered.
    listening: Option<Registration>,
}

struct State<T: Send + 'static> {
    value: T,
    line: VecDeque<Attempt<T>>,
    next: u64,
}

/// A state, and the attempts that wait for it to change.
pub struct Line<T: Send + 'static> {
    kind: &'static str,
    /// Guards the value and the line. Closures that change the value run under it; nothing is told under it.
    state: Closed<State<T>>,
}

impl<T: Send + 'static> fmt::Debug for Line<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind)
    }
}

impl<T: Send + 'static> Opaque for Line<T> {
    fn kind(&self) -> &'static str {
        self.kind
    }
}

/// Attempts that ended, with their results.
type Overs<T> = Vec<(Attempt<T>, Result<Outcome<T>>)>;

impl<T: Send + 'static> State<T> {
    /// Takes the attempts out of the line that need not wait any more.
    fn serve(&mut self) -> Overs<T> {
        let mut overs = Vec::new();
        let mut at = 0;
        while let Some(attempt) = self.line.get_mut(at) {
            match (attempt.work)(&mut self.value) {
                None => at += 1,
                Some(result) => {
                    // What it did may be what one ahead of it waits for.
                    overs.extend(self.line.remove(at).map(|attempt| (attempt, result)));
                    at = 0;
                }
            }
        }
        overs
    }
}

impl<T: Send + 'static> Line<T> {
    /// A line for this state. Messages name it by its kind.
    pub fn new(kind: &'static str, value: T) -> Line<T> {
        Line { kind, state: Closed::new(State { value, line: VecDeque::new(), next: 0 }) }
    }

    /// Changes the state. The attempts that wait then look at it.
    ///
    /// # Panics
    ///
    /// If `change` calls a method of the line.
    pub fn change<R>(self: &Arc<Self>, change: impl FnOnce(&mut T) -> R) -> R {
        let (result, overs) = {
            let mut state = self.state.run("Line::change");
            let result = change(&mut state.value);
            (result, state.serve())
        };
        self.tell(overs);
        result
    }

    /// Calls `ended` with the result of `work`, once that does not have to wait.
    pub fn attempt(
        self: &Arc<Self>,
        cancel: &Cancellation,
        work: Work<T>,
        ended: impl FnOnce(Result<Lent<T>>) + Send + 'static,
    ) {
        let (id, overs) = {
            let mut state = self.state.run("Line::attempt");
            let id = state.next;
            state.next += 1;
            state.line.push_back(Attempt { id, work, ended: Box::new(ended), listening: None });
            (id, state.serve())
        };
        self.tell(overs);
        if !self.state.lock("Line::change").line.iter().any(|attempt| attempt.id == id) {
            return;
        }
        let own = Arc::downgrade(self);
        let listening = cancel.on_cancel(move |cause| {
            if let Some(own) = own.upgrade() {
                own.call_off(id, cause);
            }
        });
        // The attempt may have ended in between; the listener is then dropped.
        let mut state = self.state.lock("Line::change");
        if let Some(attempt) = state.line.iter_mut().find(|attempt| attempt.id == id) {
            attempt.listening = Some(listening);
        }
    }

    /// Ends an attempt whose run is cancelled.
    fn call_off(self: &Arc<Self>, id: u64, cause: &Error) {
        let called_off = {
            let mut state = self.state.lock("Line::change");
            let at = state.line.iter().position(|attempt| attempt.id == id);
            at.and_then(|at| state.line.remove(at))
        };
        self.tell(called_off.map(|attempt| (attempt, Err(cause.clone()))).into_iter().collect());
    }

    /// Tells attempts that they ended. An attempt that does not use what it gets changes the state once more.
    fn tell(self: &Arc<Self>, overs: Overs<T>) {
        for (Attempt { ended, listening, .. }, result) in overs {
            drop(listening);
            ended(result.map(|outcome| Lent { outcome, home: Arc::downgrade(self) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_tensor::Code;
    use std::sync::mpsc;

    /// An attempt that takes one of a number, and tells of it.
    fn take(line: &Arc<Line<u32>>, cancel: &Cancellation) -> mpsc::Receiver<Result<Lent<u32>>> {
        let (told, heard) = mpsc::channel();
        let work = |n: &mut u32| {
            *n = n.checked_sub(1)?;
            Some(Ok(Outcome { given: Given::new(), undo: Some(Box::new(|n: &mut u32| *n += 1)) }))
        };
        line.attempt(cancel, Box::new(work), move |result| told.send(result).expect("the test listens"));
        heard
    }

    #[test]
    fn attempts_wait_in_order() {
        let (line, cancel) = (Arc::new(Line::new("number", 0)), Cancellation::new());
        let (first, second) = (take(&line, &cancel), take(&line, &cancel));
        assert!(first.try_recv().is_err());
        line.change(|n| *n = 1);
        let one = first.try_recv().expect("served").expect("ok");
        assert!(second.try_recv().is_err());
        line.change(|n| *n = 1);
        let other = second.try_recv().expect("served").expect("ok");
        assert!(one.used().is_empty() && other.used().is_empty());
        assert_eq!(line.change(|n| *n), 0);
    }

    /// What was taken and is not used comes to the next in line.
    #[test]
    fn what_is_not_used_goes_back() {
        let (line, cancel) = (Arc::new(Line::new("number", 1)), Cancellation::new());
        let (first, second) = (take(&line, &cancel), take(&line, &cancel));
        let unused = first.try_recv().expect("served").expect("ok");
        assert!(second.try_recv().is_err());
        drop(unused);
        let other = second.try_recv().expect("served").expect("ok");
        assert_eq!(line.change(|n| *n), 0);
        drop(other);
        assert_eq!(line.change(|n| *n), 1);
        // Nobody listens any more, so the value drops as it arrives.
        line.attempt(
            &cancel,
            Box::new(|n| {
                n.checked_sub(1)
                    .map(|_| Ok(Outcome { given: Given::new(), undo: Some(Box::new(|n: &mut u32| *n += 6)) }))
            }),
            drop,
        );
        assert_eq!(line.change(|n| *n), 7);
    }

    #[test]
    fn a_cancelled_attempt_leaves_the_line() {
        let (line, cancel) = (Arc::new(Line::new("number", 0)), Cancellation::new());
        let (first, second) = (take(&line, &cancel), take(&line, &Cancellation::new()));
        cancel.cancel(Error::new(Code::Cancelled, "stop"));
        assert_eq!(first.try_recv().expect("told").expect_err("cancelled").code(), Code::Cancelled);
        line.change(|n| *n = 1);
        assert!(second.try_recv().expect("served").is_ok());
    }
}
