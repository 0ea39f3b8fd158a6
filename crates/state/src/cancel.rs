//! [`Cancellation`]: one flag that many may set once and that everything which waits listens to.

use crate::sync::{AtomicBool, Mutex, Ordering::*};
use millstream_tensor::{Error, Result};
use std::collections::BTreeMap;
use std::sync::Arc;

type Callback = Box<dyn FnOnce(&Error) + Send>;

/// A shared flag with the reason why it was raised. Clones share it.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Set after `state.cause`, so that whoever sees it finds the cause.
    raised: AtomicBool,
    /// Guards the cause and those to be told; never held while one of them is called.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    cause: Option<Error>,
    next: u64,
    listeners: BTreeMap<u64, Callback>,
}

impl Cancellation {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag with its cause and tells all listeners. The first cause stays; returns whether this was it.
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

    /// Whether the flag is raised. One relaxed load: for inner loops.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.raised.load(Relaxed)
    }

    /// Whether anybody else holds this flag.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// The cause as an error, if the flag is raised.
    pub fn check(&self) -> Result<()> {
        if !self.is_cancelled() {
            return Ok(());
        }
        match &self.0.state.lock().cause {
            Some(cause) => Err(cause.clone()),
            None => Ok(()),
        }
    }

    /// Calls `tell` once when the flag is raised; at once if it is. Dropping the registration takes it back.
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

/// A listener's place; dropping it means not being told.
#[must_use = "dropping the registration takes the listener back"]
pub struct Registration {
    shared: Option<Arc<Shared>>,
    id: u64,
}

impl Registration {
    /// Whether it listens to this flag.
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
