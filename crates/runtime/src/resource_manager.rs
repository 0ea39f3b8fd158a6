//! [`ResourceManager`]: what sessions share by name.

use millstream_state::{Queue, QueueReport, Resources};
use std::sync::Arc;

/// Named things in named containers: variables, queues, readers, tables. Sessions made with the same manager
/// ([`SessionOptions::resources`](crate::SessionOptions::resources)) share what has the same container and `shared_name`; what has none belongs to
/// one session, except variables, whose nodes' names serve. Clones are the same manager.
///
/// A name stands for one thing: a session whose node asks for another kind of thing under it, or for a queue of another capacity or with other
/// components, gets an error that says both.
///
/// Definition: TensorFlow's `ResourceMgr`, which the sessions of one server share.
#[derive(Clone, Default)]
pub struct ResourceManager(Arc<Resources>);

/// One thing that a manager holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceEntry {
    /// The container; empty for the default one.
    pub container: String,
    /// The name in the container.
    pub name: String,
    /// What it is: `variable`, `queue`.
    pub kind: &'static str,
}

impl ResourceManager {
    /// A manager that holds nothing.
    pub fn new() -> ResourceManager {
        ResourceManager::default()
    }

    /// All that it holds, by container and name.
    pub fn list(&self) -> Vec<ResourceEntry> {
        let entry = |(container, name, kind)| ResourceEntry { container, name, kind };
        self.0.list().into_iter().map(entry).collect()
    }

    /// How its queues are: what is in them, who waits for them, how they were closed.
    pub fn queues(&self) -> Vec<QueueReport> {
        self.0.all::<Queue>().into_iter().map(|(_, queue)| queue.report()).collect()
    }

    /// Forgets all that is in a container; runs that use it keep it until they end.
    pub fn clear(&self, container: &str) {
        self.0.clear(container);
    }

    /// Forgets everything.
    pub fn clear_all(&self) {
        self.0.clear_all();
    }

    pub(crate) fn resources(&self) -> &Arc<Resources> {
        &self.0
    }
}
