//! [`Cancellation`]: a flag that is set once and that everything that waits listens to.

use crate::sync::{AtomicBool, Mutex, Ordering::*};
use millstream_tensor::pace::{Stop, look};
use millstream_tensor::{Code, Error, Result};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

type Callback = Box<dyn FnOnce(&Error) + Send>;

/// A shared flag with the reason for the cancellation. Clones share the flag.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<Shared>);

impl std::fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cancellation").field("cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Shared {
    /// Set after `state.cause`, so that a thread that sees the flag finds the cause.
    raised: AtomicBool,
    /// Guards the cause and the listeners; never held while a listener is called.
    state: Mutex<State>,
    /// The time from which [`Cancellation::check`] raises the flag.
    deadline: Option<Instant>,
}

#[derive(Default)]
struct State {
    cause: Option<Error>,
    next: u64,
    listeners: BTreeMap<u64, Callback>,
}

impl Stop for Shared {
    #[inline]
    fn reason(&self) -> Option<Error> {
        if self.raised.load(Relaxed) { self.state.lock().cause.clone() } else { None }
    }
}

impl Cancellation {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that the first [`Cancellation::check`] after `deadline` raises.
    pub fn until(deadline: Instant) -> Self {
        Cancellation(Arc::new(Shared { deadline: Some(deadline), ..Shared::default() }))
    }

    /// Raises the flag and calls all listeners with the cause. The first cause stays; returns whether this
    /// one was the first.
    pub fn cancel(&self, cause: Error) -> bool {
        let listeners = {
            let mut state = self.0.state.lock();
            if state.cause.is_some() {
                return false;
            }
            state.cause = Some(cause.clone());
            self.0.raised.store(true, Release);
            std::mem::take(&mut state.listeners)
        };
        for (_, tell) in listeners {
            tell(&cause);
        }
        true
    }

    /// Whether the flag is raised. A single relaxed load, cheap enough for inner loops.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.raised.load(Relaxed)
    }

    /// The flag, for [`budget::enter_run`](millstream_tensor::budget::enter_run).
    pub fn stop(&self) -> Arc<dyn Stop> {
        self.0.clone()
    }

    /// Whether this is the same flag.
    pub fn is(&self, other: &Cancellation) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether other clones of this flag exist.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Returns the cause as an error if the flag is raised. For kernels: it [looks](look), too, at what may
    /// end the run that this thread works for. While the thread works, nobody else may raise the flag.
    pub fn check(&self) -> Result<()> {
        self.raised()?;
        look()
    }

    /// Returns the cause as an error if the flag is raised.
    pub fn raised(&self) -> Result<()> {
        if self.0.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            self.cancel(Error::new(Code::DeadlineExceeded, "the time allowed is over"));
        }
        if !self.is_cancelled() {
            return Ok(());
        }
        match &self.0.state.lock().cause {
            Some(cause) => Err(cause.clone()),
            None => Ok(()),
        }
    }

    /// Calls `tell` once when the flag is raised, or at once if it already is. Dropping the registration
    /// removes the listener.
    pub fn on_cancel(&self, tell: impl FnOnce(&Error) + Send + 'static) -> Registration {
        let mut state = self.0.state.lock();
        if let Some(cause) = state.cause.clone() {
            drop(state);
            tell(&cause);
            return Registration { shared: None, id: 0 };
        }
        let id = state.next;
        state.next += 1;
        state.listeners.insert(id, Box::new(tell));
        Registration { shared: Some(self.0.clone()), id }
    }
}

/// The registration of a listener; dropping it removes the listener.
#[must_use = "dropping the registration takes the listener back"]
pub struct Registration {
    shared: Option<Arc<Shared>>,
    id: u64,
}

impl std::fmt::Debug for Registration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registration").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Registration {
    /// Whether the registration belongs to this flag.
    pub fn is_of(&self, cancel: &Cancellation) -> bool {
        self.shared.as_ref().is_some_and(|shared| Arc::ptr_eq(shared, &cancel.0))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            let listener = shared.state.lock().listeners.remove(&self.id);
            drop(listener);
        }
    }
}
