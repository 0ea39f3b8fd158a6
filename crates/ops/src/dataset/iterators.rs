//! [`Iterator`]: a pass over a dataset that a session keeps between runs. Helpers of the ops that use one.

use super::datasets::{Data, Element, Source, Spec, check_deadline};
use millstream_graph::op::{InferCx, KernelCx, StepEnv};
use millstream_tensor::{Code, Error, Opaque, Result, ensure};
use parking_lot::{Mutex, MutexGuard};
use std::fmt;
use std::time::Duration;

/// A pass over a dataset, begun by [`Iterator::start`].
pub(crate) struct Iterator {
    /// The types that the iterator was declared with, unless it takes those of its first dataset.
    spec: Option<Spec>,
    /// Held while an element is made; others wait for it in short steps.
    state: Mutex<State>,
}

#[derive(Default)]
enum State {
    #[default]
    NotStarted,
    /// The dataset, and the pass once the first element has been asked for.
    Going(Box<Going>),
}

struct Going {
    dataset: Data,
    pass: Option<Source>,
    /// The element of a run that was over before it took it.
    returned: Option<Element>,
    ended: bool,
}

impl fmt::Debug for Iterator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iterator").field("spec", &self.spec).finish_non_exhaustive()
    }
}

impl Opaque for Iterator {
    fn kind(&self) -> &'static str {
        "iterator"
    }
}

impl Iterator {
    /// An iterator that has no dataset yet.
    pub(super) fn new(spec: Option<Spec>) -> Iterator {
        Iterator { spec, state: Mutex::default() }
    }

    /// An error unless both are declared with types that can be the same.
    pub(super) fn check_same(&self, other: Option<&Spec>) -> Result<()> {
        match (&self.spec, other) {
            (Some(own), Some(other)) => own.check(other),
            _ => Ok(()),
        }
    }

    /// Begins a pass over a dataset, whatever became of the one before.
    pub(super) fn start(&self, dataset: Data, env: &StepEnv) -> Result<()> {
        let old = std::mem::replace(&mut *self.lock(env)?, self.going(dataset)?);
        drop(old);
        Ok(())
    }

    /// Begins a pass over the dataset that `make` gives, unless a pass has begun. Runs that come meanwhile
    /// wait, so that it is called once.
    pub(super) fn start_once(&self, env: &StepEnv, make: impl FnOnce() -> Result<Data>) -> Result<()> {
        let mut state = self.lock(env)?;
        if let State::NotStarted = *state {
            *state = self.going(make()?)?;
        }
        Ok(())
    }

    /// The state at the beginning of a pass.
    fn going(&self, dataset: Data) -> Result<State> {
        if let Some(spec) = &self.spec {
            spec.check(dataset.spec())?;
        }
        Ok(State::Going(Box::new(Going { dataset, pass: None, returned: None, ended: false })))
    }

    /// The next element, or `None` at the end.
    pub(super) fn next(&self, env: &StepEnv) -> Result<Option<Element>> {
        let mut state = self.lock(env)?;
        let State::Going(going) = &mut *state else {
            return Err(Error::new(
                Code::FailedPrecondition,
                "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this iterator before getting the next element.",
            ));
        };
        if let Some(returned) = going.returned.take() {
            return Ok(Some(returned));
        }
        if going.ended {
            return Ok(None);
        }
        let pass = match &mut going.pass {
            Some(pass) => pass,
            None => going.pass.insert(going.dataset.begin(env)?),
        };
        let next = pass.next(env)?;
        if next.is_none() {
            going.ended = true;
            going.pass = None;
        }
        // A run that has ended meanwhile leaves the element for the next one.
        if let Some(element) = &next
            && let Err(error) = env.cancel.check().and_then(|()| check_deadline())
        {
            going.returned = Some(element.clone());
            return Err(error);
        }
        Ok(next)
    }

    /// Waits for the run that makes an element, as long as this run goes on.
    fn lock(&self, env: &StepEnv) -> Result<MutexGuard<'_, State>> {
        const LOOK: Duration = Duration::from_millis(10);
        loop {
            if let Some(state) = self.state.try_lock_for(LOOK) {
                return Ok(state);
            }
            env.cancel.check()?;
            check_deadline()?;
        }
    }
}

/// The error at the end of a dataset.
pub(super) fn end_of_sequence() -> Error {
    Error::new(Code::OutOfRange, "End of sequence")
}

/// Sets the shapes of the outputs to `output_shapes`.
pub(super) fn infer(cx: &mut InferCx) -> Result<()> {
    cx.scalar(0)?;
    let shapes = cx.attrs().shapes("output_shapes")?;
    ensure!(
        shapes.len() == cx.n_outputs(),
        "`output_types` has {} entries but `output_shapes` {}",
        cx.n_outputs(),
        shapes.len()
    );
    shapes.into_iter().enumerate().for_each(|(i, shape)| cx.set(i, shape.clone()));
    Ok(())
}

/// The next element of the iterator in input 0, which must be of the node's types. `None` at the end.
pub(super) fn next_of(cx: &KernelCx) -> Result<Option<Element>> {
    let iterator = cx.resource::<Iterator>(0)?;
    let Some(element) = iterator.next(cx.env)? else { return Ok(None) };
    Spec::of(cx.attrs())?.check_element(&element)?;
    Ok(Some(element))
}
