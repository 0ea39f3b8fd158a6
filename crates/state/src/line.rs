//! [`Line`]: a state, and the attempts that wait for it to change.
//!
//! An attempt looks at the state and either does its work or waits. Whenever the state has changed, the
//! attempts that wait look again, in the order in which they came. Staging areas and mutexes are lines.

use crate::cancel::{Cancellation, Registration};
use crate::sync::Mutex;
use millstream_tensor::{Error, Opaque, Result, Tensor};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// The values that an attempt ends with.
pub type Given = SmallVec<[Tensor; 2]>;

/// An attempt's work; `None` means that it has to wait.
pub type Work<T> = Box<dyn FnMut(&mut T) -> Option<Result<Given>> + Send>;

type Ended = Box<dyn FnOnce(Result<Given>) + Send>;

struct Attempt<T> {
    id: u64,
    work: Work<T>,
    ended: Ended,
    /// Calls the attempt off when its run is cancelled. `None` until the listener is registered.
    listening: Option<Registration>,
}

struct State<T> {
    value: T,
    line: VecDeque<Attempt<T>>,
    next: u64,
}

/// A state, and the attempts that wait for it to change.
pub struct Line<T> {
    kind: &'static str,
    /// Guards the value and the line; nothing is told under it.
    state: Mutex<State<T>>,
}

impl<T> fmt::Debug for Line<T> {
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
type Overs<T> = Vec<(Attempt<T>, Result<Given>)>;

fn tell<T>(overs: Overs<T>) {
    for (Attempt { ended, listening, .. }, result) in overs {
        drop(listening);
        ended(result);
    }
}

impl<T> State<T> {
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
        Line { kind, state: Mutex::new(State { value, line: VecDeque::new(), next: 0 }) }
    }

    /// Changes the state, which those who wait then look at.
    pub fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let (result, overs) = {
            let mut state = self.state.lock();
            let result = change(&mut state.value);
            (result, state.serve())
        };
        tell(overs);
        result
    }

    /// Calls `ended` with the result of `work`, once that does not have to wait.
    pub fn attempt(
        self: &Arc<Self>,
        cancel: &Cancellation,
        work: Work<T>,
        ended: impl FnOnce(Result<Given>) + Send + 'static,
    ) {
        let (id, overs) = {
            let mut state = self.state.lock();
            let id = state.next;
            state.next += 1;
            state.line.push_back(Attempt { id, work, ended: Box::new(ended), listening: None });
            (id, state.serve())
        };
        tell(overs);
        if !self.state.lock().line.iter().any(|attempt| attempt.id == id) {
            return;
        }
        let own = Arc::downgrade(self);
        let listening = cancel.on_cancel(move |cause| {
            if let Some(own) = own.upgrade() {
                own.call_off(id, cause);
            }
        });
        // The attempt may have ended in between; the listener is then dropped.
        let mut state = self.state.lock();
        if let Some(attempt) = state.line.iter_mut().find(|attempt| attempt.id == id) {
            attempt.listening = Some(listening);
        }
    }

    /// Ends an attempt whose run is cancelled.
    fn call_off(&self, id: u64, cause: &Error) {
        let called_off = {
            let mut state = self.state.lock();
            let at = state.line.iter().position(|attempt| attempt.id == id);
            at.and_then(|at| state.line.remove(at))
        };
        tell(called_off.map(|attempt| (attempt, Err(cause.clone()))).into_iter().collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_tensor::Code;
    use std::sync::mpsc;

    /// An attempt that takes one of a number, and tells of it.
    fn take(line: &Arc<Line<u32>>, cancel: &Cancellation) -> mpsc::Receiver<Result<Given>> {
        let (told, heard) = mpsc::channel();
        let work = |n: &mut u32| {
            *n = n.checked_sub(1)?;
            Some(Ok(Given::new()))
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
        assert!(first.try_recv().expect("served").is_ok());
        assert!(second.try_recv().is_err());
        line.change(|n| *n = 1);
        assert!(second.try_recv().expect("served").is_ok());
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
