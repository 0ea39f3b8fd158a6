//! [`Accumulator`]: gathers gradients of one step until somebody takes their sum.
//!
//! An accumulator has a step of its own. A gradient of an older step is dropped; [`Accumulator::take`] waits
//! for a number of gradients, and begins the next step.

use crate::cancel::{Cancellation, Registration};
use crate::sync::Mutex;
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Error, Opaque, PartialShape, Result, Tensor, ensure};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// What an accumulator gathers.
#[derive(Clone, Debug, PartialEq)]
pub struct AccumulatorSpec {
    /// The dtype of the gradients.
    pub dtype: DType,
    /// A shape that they fit.
    pub shape: PartialShape,
    /// Whether they are rows of larger tensors.
    pub sparse: bool,
    /// Whether the mean is taken, not the sum.
    pub mean: bool,
}

/// The sum of gradients.
#[derive(Debug)]
pub enum Gathered {
    /// Of whole tensors.
    Dense(Tensor),
    /// Of rows of tensors.
    Sparse {
        /// The places of the rows, ascending.
        indices: Charged<i64>,
        /// The rows.
        values: Tensor,
        /// How many gradients had each row.
        counts: Charged<u32>,
        /// The shape of the whole, as far as gradients have told it.
        shape: Vec<i64>,
    },
}

type Ended = Box<dyn FnOnce(Result<(Gathered, u32)>) + Send>;

struct Attempt {
    id: u64,
    needed: u32,
    ended: Ended,
    /// Calls the attempt off when its run is cancelled. `None` until the listener is registered.
    listening: Option<Registration>,
}

#[derive(Default)]
struct State {
    step: i64,
    count: u32,
    sum: Option<Gathered>,
    line: VecDeque<Attempt>,
    next: u64,
}

/// Gathers gradients until somebody takes their sum.
pub struct Accumulator {
    name: String,
    spec: AccumulatorSpec,
    /// Guards the sum and the line of those that wait for it; nothing is told under it.
    state: Mutex<State>,
}

impl fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "accumulator `{}`", self.name)
    }
}

impl Opaque for Accumulator {
    fn kind(&self) -> &'static str {
        "accumulator"
    }
}

/// An attempt that ended, with its result.
type Over = (Attempt, Result<(Gathered, u32)>);

fn tell(over: Option<Over>) {
    if let Some((Attempt { ended, listening, .. }, result)) = over {
        drop(listening);
        ended(result);
    }
}

impl State {
    /// Gives the sum to the first in the line, if it is complete.
    fn serve(&mut self) -> Option<Over> {
        let needed = self.line.front()?.needed;
        if self.count < needed {
            return None;
        }
        let (sum, attempt) = (self.sum.take()?, self.line.pop_front()?);
        let count = std::mem::take(&mut self.count);
        self.step += 1;
        Some((attempt, Ok((sum, count))))
    }
}

impl Accumulator {
    /// An accumulator without gradients, in step 0.
    pub fn new(name: &str, spec: AccumulatorSpec) -> Accumulator {
        Accumulator { name: name.to_owned(), spec, state: Mutex::default() }
    }

    /// What it gathers.
    pub fn spec(&self) -> &AccumulatorSpec {
        &self.spec
    }

    /// An error unless another node's accumulator of this name is the same.
    pub fn check_same(&self, spec: &AccumulatorSpec) -> Result<()> {
        ensure!(
            self.spec == *spec,
            "Shared conditional accumulator '{}' has shape {} and dtype {}, but the node asks for {} and {}",
            self.name,
            self.spec.shape,
            self.spec.dtype,
            spec.shape,
            spec.dtype
        );
        Ok(())
    }

    /// The number of gradients that it holds.
    pub fn count(&self) -> u32 {
        self.state.lock().count
    }

    /// Sets the step.
    pub fn set_step(&self, step: i64) {
        self.state.lock().step = step;
    }

    /// Adds a gradient of a step; drops it if the step is over. `add` leaves the sum as it is if it fails.
    pub fn apply(&self, step: i64, add: impl FnOnce(&mut Option<Gathered>) -> Result<()>) -> Result<()> {
        let over = {
            let mut state = self.state.lock();
            if step < state.step {
                return Ok(());
            }
            add(&mut state.sum)?;
            state.count += 1;
            state.serve()
        };
        tell(over);
        Ok(())
    }

    /// Calls `ended` with the sum of at least `needed` gradients and their number, once there are as many.
    pub fn take(
        self: &Arc<Self>,
        needed: u32,
        cancel: &Cancellation,
        ended: impl FnOnce(Result<(Gathered, u32)>) + Send + 'static,
    ) {
        let (id, over) = {
            let mut state = self.state.lock();
            let id = state.next;
            state.next += 1;
            state.line.push_back(Attempt { id, needed, ended: Box::new(ended), listening: None });
            (id, state.serve())
        };
        tell(over);
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

    /// Ends an attempt whose run is cancelled. Those behind it may have enough.
    fn call_off(&self, id: u64, cause: &Error) {
        let (called_off, over) = {
            let mut state = self.state.lock();
            let at = state.line.iter().position(|attempt| attempt.id == id);
            let attempt = at.and_then(|at| state.line.remove(at));
            (attempt.map(|attempt| (attempt, Err(cause.clone()))), state.serve())
        };
        tell(called_off);
        tell(over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millstream_tensor::Code;
    use std::sync::mpsc;

    fn accumulator() -> Arc<Accumulator> {
        let spec =
            AccumulatorSpec { dtype: DType::F32, shape: PartialShape::unknown(), sparse: false, mean: true };
        Arc::new(Accumulator::new("a", spec))
    }

    fn put(sum: &mut Option<Gathered>) -> Result<()> {
        *sum = Some(Gathered::Dense(Tensor::scalar(1.0f32)));
        Ok(())
    }

    #[test]
    fn a_take_waits_for_enough_and_begins_a_step() {
        let (accumulator, (told, heard)) = (accumulator(), mpsc::channel());
        accumulator.take(2, &Cancellation::new(), move |result| {
            told.send(result.map(|(_, count)| count)).expect("the test listens")
        });
        accumulator.apply(0, put).expect("fits");
        assert!(heard.try_recv().is_err());
        accumulator.apply(0, put).expect("fits");
        assert_eq!(heard.try_recv().expect("served").expect("ok"), 2);
        accumulator.apply(0, put).expect("dropped");
        assert_eq!(accumulator.count(), 0);
        accumulator.apply(1, put).expect("fits");
        assert_eq!(accumulator.count(), 1);
    }

    #[test]
    fn a_cancelled_take_leaves_the_line() {
        let (accumulator, cancel, (told, heard)) = (accumulator(), Cancellation::new(), mpsc::channel());
        accumulator.take(1, &cancel, move |result| {
            told.send(result.map(|(_, count)| count)).expect("the test listens")
        });
        cancel.cancel(Error::new(Code::Cancelled, "stop"));
        assert_eq!(heard.try_recv().expect("told").expect_err("cancelled").code(), Code::Cancelled);
        accumulator.apply(0, put).expect("fits");
        assert_eq!(accumulator.count(), 1);
    }
}
