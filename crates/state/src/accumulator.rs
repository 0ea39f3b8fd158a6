//! [`Accumulator`]: gathers gradients of one step until somebody takes their sum.
//!
//! An accumulator has a step of its own. A gradient of an older step is dropped; [`Accumulator::take`] waits
//! for a number of gradients, and begins the next step.

use crate::cancel::{Cancellation, Registration};
use crate::closures::Closed;
use millstream_tensor::budget::Charged;
use millstream_tensor::{DType, Error, Opaque, PartialShape, Result, Tensor, ensure};
use parking_lot::MutexGuard;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Weak};

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

/// A sum that was taken, and the number of its gradients. It is the receiver's once it calls
/// [`GatheredSum::used`]. If the value drops before that (the run is over when the sum arrives), the sum
/// returns to the accumulator, unless gradients of the next step have come in the meantime.
#[derive(Debug)]
#[must_use = "a sum that is not used returns to its accumulator"]
pub struct GatheredSum {
    sum: Gathered,
    count: u32,
    /// The step that began when the sum was taken.
    next_step: i64,
    /// `None` once the sum is used.
    home: Option<Weak<Accumulator>>,
}

impl GatheredSum {
    /// Takes the sum and the number of gradients for good.
    pub fn used(mut self) -> (Gathered, u32) {
        self.home = None;
        self.take()
    }

    fn take(&mut self) -> (Gathered, u32) {
        let nothing = Gathered::Dense(Tensor::scalar(0.0f32));
        (std::mem::replace(&mut self.sum, nothing), self.count)
    }
}

impl Drop for GatheredSum {
    fn drop(&mut self) {
        if let Some(home) = self.home.take().and_then(|home| home.upgrade()) {
            home.take_back(self.take(), self.next_step);
        }
    }
}

type Ended = Box<dyn FnOnce(Result<GatheredSum>) + Send>;

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
    /// Guards the sum and the line of those that wait for it. What adds a gradient runs under it; nothing is
    /// told under it.
    state: Closed<State>,
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

/// A sum, the number of its gradients, and the step that began when it was taken.
type Taken = (Gathered, u32, i64);

/// An attempt that ended, with its result.
type Over = (Attempt, Result<Taken>);

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
        Some((attempt, Ok((sum, count, self.step))))
    }
}

impl Accumulator {
    /// An accumulator without gradients, in step 0.
    pub fn new(name: &str, spec: AccumulatorSpec) -> Accumulator {
        Accumulator { name: name.to_owned(), spec, state: Closed::default() }
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
        self.lock().count
    }

    /// Sets the step.
    pub fn set_step(&self, step: i64) {
        self.lock().step = step;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock("Accumulator::apply")
    }

    /// Adds a gradient of a step; drops it if the step is over. `add` leaves the sum as it is if it fails.
    ///
    /// # Panics
    ///
    /// If `add` calls a method of the accumulator.
    pub fn apply(
        self: &Arc<Self>,
        step: i64,
        add: impl FnOnce(&mut Option<Gathered>) -> Result<()>,
    ) -> Result<()> {
        let over = {
            let mut state = self.state.run("Accumulator::apply");
            if step < state.step {
                return Ok(());
            }
            add(&mut state.sum)?;
            state.count += 1;
            state.serve()
        };
        self.tell(over);
        Ok(())
    }

    /// A sum comes back that was taken when the step `next_step` began. It is dropped, as gradients of steps
    /// that are over are, unless nothing has happened since.
    fn take_back(self: &Arc<Self>, (sum, count): (Gathered, u32), next_step: i64) {
        let over = {
            let mut state = self.lock();
            if state.step != next_step || state.sum.is_some() {
                return;
            }
            state.step -= 1;
            (state.sum, state.count) = (Some(sum), count);
            state.serve()
        };
        self.tell(over);
    }

    fn tell(self: &Arc<Self>, over: Option<Over>) {
        if let Some((Attempt { ended, listening, .. }, result)) = over {
            drop(listening);
            ended(result.map(|(sum, count, next_step)| {
                let home = Some(Arc::downgrade(self));
                GatheredSum { sum, count, next_step, home }
            }));
        }
    }

    /// Calls `ended` with the sum of at least `needed` gradients and their number, once there are as many.
    pub fn take(
        self: &Arc<Self>,
        needed: u32,
        cancel: &Cancellation,
        ended: impl FnOnce(Result<GatheredSum>) + Send + 'static,
    ) {
        let (id, over) = {
            let mut state = self.lock();
            let id = state.next;
            state.next += 1;
            state.line.push_back(Attempt { id, needed, ended: Box::new(ended), listening: None });
            (id, state.serve())
        };
        self.tell(over);
        if !self.lock().line.iter().any(|attempt| attempt.id == id) {
            return;
        }
        let own = Arc::downgrade(self);
        let listening = cancel.on_cancel(move |cause| {
            if let Some(own) = own.upgrade() {
                own.call_off(id, cause);
            }
        });
        // The attempt may have ended in between; the listener is then dropped.
        let mut state = self.lock();
        if let Some(attempt) = state.line.iter_mut().find(|attempt| attempt.id == id) {
            attempt.listening = Some(listening);
        }
    }

    /// Ends an attempt whose run is cancelled. Those behind it may have enough.
    fn call_off(self: &Arc<Self>, id: u64, cause: &Error) {
        let (called_off, over) = {
            let mut state = self.lock();
            let at = state.line.iter().position(|attempt| attempt.id == id);
            let attempt = at.and_then(|at| state.line.remove(at));
            (attempt.map(|attempt| (attempt, Err(cause.clone()))), state.serve())
        };
        self.tell(called_off);
        self.tell(over);
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
            told.send(result.map(|sum| sum.used().1)).expect("the test listens")
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
            told.send(result.map(|sum| sum.used().1)).expect("the test listens")
        });
        cancel.cancel(Error::new(Code::Cancelled, "stop"));
        assert_eq!(heard.try_recv().expect("told").expect_err("cancelled").code(), Code::Cancelled);
        accumulator.apply(0, put).expect("fits");
        assert_eq!(accumulator.count(), 1);
    }

    /// Takes a sum, for a run that is over unless `uses`.
    fn take(accumulator: &Arc<Accumulator>, uses: bool) -> mpsc::Receiver<u32> {
        let (told, heard) = mpsc::channel();
        accumulator.take(2, &Cancellation::new(), move |sum| {
            let sum = sum.expect("not cancelled");
            if uses {
                told.send(sum.used().1).expect("the test listens");
            }
        });
        heard
    }

    #[test]
    fn a_sum_that_is_not_used_goes_back() {
        let accumulator = accumulator();
        let (_unused, other) = (take(&accumulator, false), take(&accumulator, true));
        accumulator.apply(0, put).expect("fits");
        accumulator.apply(0, put).expect("fits");
        assert_eq!(other.try_recv().expect("the first came back"), 2);
        accumulator.apply(1, put).expect("fits");
        accumulator.apply(1, put).expect("fits");
        drop(take(&accumulator, false));
        assert_eq!((accumulator.count(), take(&accumulator, true).try_recv()), (2, Ok(2)));
        // The next step has begun, and has a gradient, or was set.
        type Change = fn(&Arc<Accumulator>) -> Result<()>;
        let changes: [Change; 2] = [
            |a| a.apply(3, put),
            |a| {
                a.set_step(9);
                Ok(())
            },
        ];
        for change in changes {
            accumulator.set_step(2);
            accumulator.apply(2, put).expect("fits");
            accumulator.apply(2, put).expect("fits");
            let (told, heard) = mpsc::channel();
            accumulator.take(2, &Cancellation::new(), move |sum| told.send(sum).expect("the test listens"));
            let sum = heard.try_recv().expect("served");
            change(&accumulator).expect("fits");
            let before = accumulator.count();
            drop(sum);
            assert_eq!(accumulator.count(), before);
            while 0 < accumulator.count() {
                accumulator.apply(9, put).expect("fits");
                drop(take(&accumulator, true));
            }
        }
    }

    #[test]
    #[should_panic(expected = "given to `Accumulator::apply` called a method of the same object")]
    fn what_adds_a_gradient_may_not_call_the_accumulator() {
        let accumulator = accumulator();
        let _ = accumulator.apply(0, |_| {
            accumulator.count();
            Ok(())
        });
    }
}
