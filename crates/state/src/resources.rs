//! [`Resources`]: named things in named containers, shared by the sessions that share this.

use crate::activity::{Activity, Users};
use millstream_tensor::{Code, Error, Opaque, Result};
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Things by container and name. A name holds one kind of thing.
#[derive(Default)]
pub struct Resources {
    /// Guards the map only; nothing is built or called under it but the constructor passed to `get_or_create`.
    map: Mutex<BTreeMap<(String, String), Arc<dyn Opaque>>>,
    /// How often something was forgotten.
    epoch: AtomicU64,
    /// Guards only itself; nothing is locked beneath it.
    users: Mutex<Users>,
}

impl Resources {
    /// No resources.
    pub fn new() -> Self {
        Self::default()
    }

    /// The thing under this name, made by `make` if there is none. An error if it is of another kind.
    pub fn get_or_create<T: Opaque>(
        &self,
        container: &str,
        name: &str,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let mut map = self.map.lock();
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

    /// The thing under this name. `NOT_FOUND` if there is none.
    pub fn get<T: Opaque>(&self, container: &str, name: &str) -> Result<Arc<T>> {
        let found = self.map.lock().get(&(container.to_owned(), name.to_owned())).cloned();
        match found {
            Some(object) => downcast(object, container, name),
            None => Err(Error::new(
                Code::NotFound,
                format!("container `{container}` holds nothing under the name `{name}`"),
            )),
        }
    }

    /// All things of a kind, with their containers, in order.
    pub fn all<T: Opaque>(&self) -> Vec<(String, Arc<T>)> {
        let map = self.map.lock();
        let of_kind = |(key, object): (&(String, String), &Arc<dyn Opaque>)| {
            let object: Arc<dyn Any + Send + Sync> = object.clone();
            Some((key.0.clone(), object.downcast().ok()?))
        };
        map.iter().filter_map(of_kind).collect()
    }

    /// The containers and names of all things, with what they are, in order.
    pub fn list(&self) -> Vec<(String, String, &'static str)> {
        let map = self.map.lock();
        map.iter()
            .map(|((container, name), object)| (container.clone(), name.clone(), object.kind()))
            .collect()
    }

    /// Another user, which says by the activity when it is at work.
    pub fn join(&self) -> Activity {
        self.users.lock().join()
    }

    /// For how long, as far as has been looked, no user has been at work.
    pub fn quiet_for(&self) -> Duration {
        self.users.lock().quiet_for()
    }

    /// A number that changes whenever something is forgotten: what was found under a name while it was the same is still there.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Forgets the thing under this name; those who hold it keep it. Returns whether there was one.
    pub fn remove(&self, container: &str, name: &str) -> bool {
        let found = self.map.lock().remove(&(container.to_owned(), name.to_owned()));
        self.epoch.fetch_add(1, Ordering::Release);
        found.is_some()
    }

    /// Forgets everything.
    pub fn clear_all(&self) {
        let old = std::mem::take(&mut *self.map.lock());
        if old.is_empty() {
            return;
        }
        self.epoch.fetch_add(1, Ordering::Release);
        drop(old);
    }

    /// Forgets everything in a container.
    pub fn clear(&self, container: &str) {
        self.map.lock().retain(|(c, _), _| c != container);
        self.epoch.fetch_add(1, Ordering::Release);
    }
}

fn downcast<T: Opaque>(object: Arc<dyn Opaque>, container: &str, name: &str) -> Result<Arc<T>> {
    let kind = object.kind();
    (object as Arc<dyn Any + Send + Sync>).downcast::<T>().map_err(|_| {
        Error::invalid(format!("`{name}` in container `{container}` is a {kind}, not what was asked for"))
    })
}
