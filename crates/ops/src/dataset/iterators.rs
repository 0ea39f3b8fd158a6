//! [`Iterator`]: a pass over a dataset that a session keeps between runs. Helpers of the ops that use one.

use super::datasets::{Data, Element, Source, Spec, check_deadline};
use crate::shared::handles::share;
use millstream_graph::op::{InferCx, KernelCx, StepEnv};
use millstream_state::Loan;
use millstream_tensor::{Code, Error, Opaque, Result, Tensor, ensure};
use parking_lot::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A pass over a dataset, begun by [`Iterator::start`].
pub(crate) struct Iterator {
    /// The types that the iterator was declared with, unless it takes those of its first dataset.
    spec: Option<Spec>,
    /// Held while an element is made; others wait for it in short steps.
    state: Mutex<State>,
    /// Guards only itself, so that a run can return an element while another one is made.
    returned: Mutex<Returned>,
}

/// The elements of runs that were called off.
#[derive(Default)]
struct Returned {
    /// The number of the pass that they belong to.
    pass: u64,
    /// By their place in the pass.
    elements: BTreeMap<u64, Element>,
}

/// An element, and where it returns to if nothing comes of it.
struct Given {
    pass: u64,
    place: u64,
    element: Element,
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
    /// The number of elements that were made.
    made: u64,
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
        Iterator { spec, state: Mutex::default(), returned: Mutex::default() }
    }

    /// An error unless both are declared with types that can be the same.
    pub(super) fn check_same(&self, other: Option<&Spec>) -> Result<()> {
        match (&self.spec, other) {
            (Some(own), Some(other)) => own.check(other),
            _ => Ok(()),
        }
    }

    /// An error unless the iterator can be of these types, which a node declares for it.
    pub(super) fn check_is(&self, declared: &Spec) -> Result<()> {
        self.spec.as_ref().map_or(Ok(()), |own| declared.check(own))
    }

    /// Begins a pass over a dataset, whatever became of the one before.
    pub(super) fn start(&self, dataset: Data, env: &StepEnv) -> Result<()> {
        let mut state = self.lock(env)?;
        let old = std::mem::replace(&mut *state, self.going(dataset)?);
        let returned = {
            let mut returned = self.returned.lock();
            returned.pass += 1;
            std::mem::take(&mut returned.elements)
        };
        drop(state);
        drop((old, returned));
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
        Ok(State::Going(Box::new(Going { dataset, pass: None, made: 0, ended: false })))
    }

    /// The next element, or `None` at the end.
    fn next(&self, env: &StepEnv) -> Result<Option<Given>> {
        let mut state = self.lock(env)?;
        let State::Going(going) = &mut *state else {
            return Err(Error::new(
                Code::FailedPrecondition,
                "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this iterator before getting the next element.",
            ));
        };
        if let Some(given) = self.returned.lock().take() {
            return Ok(Some(given));
        }
        if going.ended {
            return Ok(None);
        }
        let pass = match &mut going.pass {
            Some(pass) => pass,
            None => going.pass.insert(going.dataset.begin(env)?),
        };
        let Some(element) = pass.next(env)? else {
            going.ended = true;
            going.pass = None;
            // Another run may have been called off in the meantime.
            return Ok(self.returned.lock().take());
        };
        let place = going.made;
        going.made += 1;
        let over = env.cancel.check().and_then(|()| check_deadline());
        let mut returned = self.returned.lock();
        let given = Given { pass: returned.pass, place, element };
        // A run that has ended meanwhile leaves the element for the next one.
        match over {
            Ok(()) => Ok(Some(given)),
            Err(error) => {
                returned.insert(given);
                Err(error)
            }
        }
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

/// The next element of the iterator in input 0, which must be of the node's types. `None` at the end. If the
/// run is called off, the element returns to the iterator.
pub(super) fn next_of(cx: &KernelCx) -> Result<Option<Element>> {
    let iterator = share::<Iterator>(cx, 0)?;
    let Some(given) = iterator.next(cx.env)? else { return Ok(None) };
    Spec::of(cx.attrs())?.check_element(&given.element)?;
    let element = given.element.clone();
    let bytes = element.iter().map(Tensor::byte_size).fold(0, usize::saturating_add);
    cx.env.loans.hold(Arc::as_ptr(&iterator).addr(), bytes, Box::new(Lent { given, iterator }));
    Ok(Some(element))
}

impl Returned {
    /// Takes the first element.
    fn take(&mut self) -> Option<Given> {
        let (place, element) = self.elements.pop_first()?;
        Some(Given { pass: self.pass, place, element })
    }

    /// Takes an element back, unless another pass has begun.
    fn insert(&mut self, given: Given) {
        if given.pass == self.pass {
            self.elements.insert(given.place, given.element);
        }
    }
}

/// An element that a run has taken.
struct Lent {
    given: Given,
    iterator: Arc<Iterator>,
}

impl Loan for Lent {
    fn used(self: Box<Self>) {}

    fn unused(self: Box<Self>) {
        let Lent { given, iterator } = *self;
        iterator.returned.lock().insert(given);
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").field("place", &self.given.place).finish_non_exhaustive()
    }
}
