//! [`Resources`]: named resources in named containers, shared by several sessions.

use crate::activity::{Activity, Users};
use crate::closures::Closed;
use crate::queue::{Barrier, Queue, QueueReport, QueueStore};
use crate::variable::Variable;
use millstream_tensor::{Code, Error, Opaque, Result};
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Resources by container and name. A name holds a resource of one kind.
#[derive(Default)]
pub struct Resources {
    /// Guards only the map. Only the constructor passed to `get_or_create` runs under it.
    map: Closed<BTreeMap<(String, String), Arc<dyn Opaque>>>,
    /// The number of removals.
    epoch: AtomicU64,
    /// Guards only itself; no other lock is taken under it.
    users: Mutex<Users>,
    /// Where queues live, if not in this process.
    store: Option<Arc<dyn QueueStore>>,
}

/// The method that runs closures, in panics.
const CREATE: &str = "Resources::get_or_create";

/// A queue, which may be a barrier's.
#[derive(Clone, Debug)]
pub struct AnyQueue {
    /// The queue; of a barrier, the complete elements.
    pub queue: Arc<Queue>,
    /// The barrier.
    pub barrier: Option<Arc<Barrier>>,
}

impl AnyQueue {
    /// The state at this moment.
    pub fn report(&self) -> QueueReport {
        self.barrier.as_ref().map_or_else(|| self.queue.report(), |barrier| barrier.report())
    }
}

impl std::fmt::Debug for Resources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resources").field("resources", &self.list()).finish_non_exhaustive()
    }
}

impl Resources {
    /// An empty set of resources.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty set of resources, whose queues live in `store`.
    pub fn at(store: Arc<dyn QueueStore>) -> Self {
        Resources { store: Some(store), ..Self::default() }
    }

    /// Where queues live, if not in this process.
    pub fn store(&self) -> Option<&Arc<dyn QueueStore>> {
        self.store.as_ref()
    }

    /// The resource with this name, made by `make` if there is none. An error if it is of another kind.
    ///
    /// # Panics
    ///
    /// If `make` calls a method of the same resources, on this thread.
    pub fn get_or_create<T: Opaque>(
        &self,
        container: &str,
        name: &str,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let mut map = self.map.run(CREATE);
        let object = match map.get(&(container.to_owned(), name.to_owned())) {
            Some(object) => object.clone(),
            None => {
                let object: Arc<dyn Opaque> = Arc::new(make()?);
                map.insert((container.to_owned(), name.to_owned()), object.clone());
                object
            }
        };
        drop(map);
        downcast(object, container, name)
    }

    /// The resource with this name. `NOT_FOUND` if there is none.
    pub fn get<T: Opaque>(&self, container: &str, name: &str) -> Result<Arc<T>> {
        let found = self.map.lock(CREATE).get(&(container.to_owned(), name.to_owned())).cloned();
        match found {
            Some(object) => downcast(object, container, name),
            None => Err(Error::new(
                Code::NotFound,
                format!("container `{container}` holds nothing under the name `{name}`"),
            )),
        }
    }

    /// Whether any resource has a value. An uninitialized variable has none.
    pub fn holds_any(&self) -> bool {
        let map = self.map.lock(CREATE);
        let variable = |object: &Arc<dyn Opaque>| {
            let object: Arc<dyn Any + Send + Sync> = object.clone();
            object.downcast::<Variable>().ok()
        };
        map.values().any(|object| variable(object).is_none_or(|variable| variable.is_initialized()))
    }

    /// All resources of one kind with their containers, in order.
    pub fn all<T: Opaque>(&self) -> Vec<(String, Arc<T>)> {
        let map = self.map.lock(CREATE);
        let of_kind = |(key, object): (&(String, String), &Arc<dyn Opaque>)| {
            let object: Arc<dyn Any + Send + Sync> = object.clone();
            Some((key.0.clone(), object.downcast().ok()?))
        };
        map.iter().filter_map(of_kind).collect()
    }

    /// All queues, and the barriers' queues of complete elements.
    pub fn queues(&self) -> Vec<AnyQueue> {
        let queues = self.all::<Queue>().into_iter().map(|(_, queue)| AnyQueue { queue, barrier: None });
        let barriers = self
            .all::<Barrier>()
            .into_iter()
            .map(|(_, barrier)| AnyQueue { queue: barrier.ready().clone(), barrier: Some(barrier) });
        queues.chain(barriers).collect()
    }

    /// The containers, names and kinds of all resources, in order.
    pub fn list(&self) -> Vec<(String, String, &'static str)> {
        let map = self.map.lock(CREATE);
        map.iter()
            .map(|((container, name), object)| (container.clone(), name.clone(), object.kind()))
            .collect()
    }

    /// Adds a user, whose work the returned activity records.
    pub fn join(&self) -> Activity {
        self.users.lock().join()
    }

    /// The time for which no user has been at work, as far as observed.
    pub fn quiet_for(&self) -> Duration {
        self.users.lock().quiet_for()
    }

    /// A number that changes with every removal. While it is unchanged, every resource that was found is
    /// still there.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Removes the resource with this name; existing references stay valid. Returns whether there was one.
    pub fn remove(&self, container: &str, name: &str) -> bool {
        let found = self.map.lock(CREATE).remove(&(container.to_owned(), name.to_owned()));
        self.epoch.fetch_add(1, Ordering::Release);
        found.is_some()
    }

    /// Removes all resources.
    pub fn clear_all(&self) {
        let old = std::mem::take(&mut *self.map.lock(CREATE));
        if old.is_empty() {
            return;
        }
        self.epoch.fetch_add(1, Ordering::Release);
        drop(old);
    }

    /// Removes all resources in a container.
    pub fn clear(&self, container: &str) {
        self.map.lock(CREATE).retain(|(c, _), _| c != container);
        self.epoch.fetch_add(1, Ordering::Release);
    }
}

fn downcast<T: Opaque>(object: Arc<dyn Opaque>, container: &str, name: &str) -> Result<Arc<T>> {
    let kind = object.kind();
    (object as Arc<dyn Any + Send + Sync>).downcast::<T>().map_err(|_| {
        Error::invalid(format!(
            "`{name}` in container `{container}` is a {kind}, not a resource of the kind asked for"
        ))
    })
}
