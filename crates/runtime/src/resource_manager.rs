//! [`ResourceManager`]: resources that sessions share by name.

use millstream_state::{AnyQueue, QueueReport, Resources};
#[cfg(not(feature = "store"))]
use millstream_tensor::Error;
use millstream_tensor::Result;
use std::sync::Arc;

/// Named resources in named containers: variables, queues, readers, tables. Sessions with the same manager
/// ([`SessionOptions::resources`](crate::SessionOptions::resources)) share resources of the same container
/// and `shared_name`. A resource without a `shared_name` belongs to one session, except for variables, which
/// are shared by the name of their node. Clones are the same manager.
///
/// A name belongs to one resource. A session whose node asks for another kind of resource by that name, or
/// for a queue of another capacity or with other components, gets an error that names both.
///
/// Definition: TensorFlow's `ResourceMgr`, which the sessions of one server share.
///
/// ```
/// # use millstream_runtime::*;
/// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
/// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
/// let shared = ResourceManager::new();
/// let options = || SessionOptions { resources: Some(shared.clone()), ..SessionOptions::default() };
/// let trains = Session::with_options(&g, options())?;
/// let serves = Session::with_options(&g, options())?; // sees the variables that the other trains
/// assert_eq!(trains.resources().list(), serves.resources().list());
/// # Ok::<(), millstream_tensor::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct ResourceManager(Arc<Resources>);

impl std::fmt::Debug for ResourceManager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ResourceManager").field(&self.list()).finish()
    }
}

/// One resource of a manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceEntry {
    /// The container; empty for the default one.
    pub container: String,
    /// The name in the container.
    pub name: String,
    /// The kind: `variable`, `queue`.
    pub kind: &'static str,
}

impl ResourceManager {
    /// A manager without resources.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// assert!(ResourceManager::new().list().is_empty());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn new() -> ResourceManager {
        ResourceManager::default()
    }

    /// A manager whose queues live in a Valkey or Redis server, so that other processes can use them: those
    /// with a `shared_name`. Everything else stays in this process. The address is
    /// `valkey://[user][:password]@host[:port]/namespace`; processes with the same namespace share queues.
    /// Options follow as in `?lease_ms=10000&reconnect_ms=30000&max_element_bytes=67108864`:
    ///
    /// - `lease_ms`: a process that is silent for this long counts as gone, and the items that it was given
    ///   and has not used return to the head of their queue;
    /// - `reconnect_ms`: an operation fails with `UNAVAILABLE` after the server has not answered for this
    ///   long; until then the connection is made again as often as it takes;
    /// - `max_element_bytes`: larger elements are refused.
    ///
    /// `valkeys://` or `rediss://` is for TLS, which takes the feature `store-tls`. Its options name files in
    /// PEM form: `ca` has the certificates of the authorities that are trusted instead of the system's, and
    /// `cert` and `key` have what the server asks of its clients. No graph can name them.
    ///
    /// Fails if no server answers. It takes the feature `store` of the crate.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// // Nothing listens there.
    /// assert!(ResourceManager::at("valkey://127.0.0.1:1/jobs").is_err());
    /// ```
    #[cfg(feature = "store")]
    pub fn at(address: &str) -> Result<ResourceManager> {
        let store = millstream_store::Store::at(address)?;
        Ok(ResourceManager(Arc::new(Resources::at(Arc::new(store)))))
    }

    /// A manager whose queues live in a server: not in this build, which lacks the feature `store`.
    #[cfg(not(feature = "store"))]
    pub fn at(_address: &str) -> Result<ResourceManager> {
        let text = "queues in a server need the feature `store`, which this build does not have";
        Err(Error::unimplemented(text).with_help("build the crate with `--features store`"))
    }

    /// All resources, by container and name.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let manager = ResourceManager::new();
    /// let options = SessionOptions { resources: Some(manager.clone()), ..SessionOptions::default() };
    /// let variable = g.op("VarHandleOp").attr("dtype", DType::F32).attr("shape", shape![]);
    /// let handle = variable.attr("shared_name", "w").output();
    /// let assign = g.op("AssignVariableOp").input(handle).input(g.constant(1.0f32)).finish();
    /// Session::with_options(&g, options)?.run::<()>(assign, feed![])?;
    /// let entry = &manager.list()[0];
    /// assert_eq!((entry.name.as_str(), entry.kind), ("w", "variable"));
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn list(&self) -> Vec<ResourceEntry> {
        let entry = |(container, name, kind)| ResourceEntry { container, name, kind };
        self.0.list().into_iter().map(entry).collect()
    }

    /// Reports on the queues: what is in them, which nodes wait, how they were closed.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// assert!(ResourceManager::new().queues().is_empty());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn queues(&self) -> Vec<QueueReport> {
        self.0.queues().iter().map(AnyQueue::report).collect()
    }

    /// Forgets the resources of a container. Runs that use them keep them until they end.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let manager = ResourceManager::new();
    /// manager.clear(""); // the default container
    /// assert!(manager.list().is_empty());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn clear(&self, container: &str) {
        self.0.clear(container);
    }

    /// Forgets all resources.
    ///
    /// ```
    /// # use millstream_runtime::*;
    /// # use millstream_tensor::{Code, DType, Result, Tensor, shape};
    /// # let g = millstream_graph::Graph::with_ops(millstream_ops::registry());
    /// let manager = ResourceManager::new();
    /// manager.clear_all();
    /// assert!(manager.list().is_empty());
    /// # Ok::<(), millstream_tensor::Error>(())
    /// ```
    pub fn clear_all(&self) {
        self.0.clear_all();
    }

    pub(crate) fn resources(&self) -> &Arc<Resources> {
        &self.0
    }
}
