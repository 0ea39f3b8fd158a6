//! Queues that live in a Valkey or Redis server, so that producers and consumers can be different processes
//! on different machines.
//!
//! Types to know: [`Store`], the server as this process sees it; [`Address`], which says where it is.
//!
//! # Protocol
//!
//! A process has one thread for a server (`worker.rs`). What the process has to say to a queue is gathered
//! while the answers to what it said before are on their way, and becomes one *turn*: a script (`turn.lua`)
//! that the server runs as a whole. The script moves items, serves the lines of attempts of all clients by
//! the rules of `millstream_state::Queue`, and returns the answers that are ready for this client. Answers
//! for other clients wait for their turns; a message on the channel `ms:wake:CLIENT`, which a second thread
//! listens to, tells them to come.
//!
//! Turns are numbered. After a broken connection the turn without an answer is sent again; the server makes
//! no turn twice, and repeats its answers, until the next turn confirms them. So nothing that is enqueued is
//! lost or doubled by a broken connection.
//!
//! Items that a dequeue takes are *lent*. They are forgotten once this process says that it has used them,
//! and return to the head of the queue if it says otherwise, or says nothing for the time of its lease. A
//! process that is cut off for longer than its lease and then uses items that were lent to it uses items that
//! others got, too: that, and the time between the use of an item and the turn that says so, is the window in
//! which items are delivered more than once.
//!
//! # What it does not do
//!
//! Clusters are not supported. Variables and other resources stay in the process.

mod address;
mod link;
mod listener;
mod queue;
#[cfg(feature = "tls")]
mod tls;
mod wire;
mod worker;

pub use address::Address;

use link::Link;
use millstream_state::{Elsewhere, ItemStore, QueueSpec, QueueStore};
use millstream_tensor::Result;
use queue::Remote;
use std::fmt;
use std::sync::Arc;
use worker::Worker;

/// What a server may hold, read as clients read it. For the tests of foreign bytes: a server is not trusted.
#[doc(hidden)]
pub mod foreign {
    use crate::{Address, wire};
    use millstream_state::{Item, QueueSpec};
    use millstream_tensor::{Result, Tensor};

    /// Reads an element of a queue.
    pub fn element(row: &[u8], spec: &QueueSpec, at: &Address) -> Result<Item> {
        wire::decode(row, spec, "fuzz", at)
    }

    /// Writes an element.
    pub fn written(item: &[Tensor], spec: &QueueSpec, at: &Address) -> Result<Vec<u8>> {
        wire::encode(item, spec, "fuzz", at)
    }

    /// Reads the type of a queue.
    pub fn spec(bytes: &[u8]) -> Result<QueueSpec> {
        wire::decode_spec(bytes)
    }

    /// Writes the type of a queue.
    pub fn spec_written(spec: &QueueSpec) -> Result<Vec<u8>> {
        wire::encode_spec(spec)
    }
}

/// A Valkey or Redis server in which queues live. Connections end with the last clone and the last queue.
#[derive(Clone)]
pub struct Store(Arc<Worker>);

impl Store {
    /// Connects to the server at an address: `valkey://[user][:password]@host[:port]/namespace`, with options
    /// as in `?lease_ms=10000&reconnect_ms=30000&max_element_bytes=67108864`. `valkeys://` is for TLS, which
    /// takes the feature `tls`, with the options `ca=FILE`, `cert=FILE` and `key=FILE`.
    pub fn at(address: &str) -> Result<Store> {
        let address = Address::parse(address)?;
        let link = Link::new(&address)?;
        Ok(Store(Worker::start(address, link)?))
    }

    /// Where the server is.
    pub fn address(&self) -> &Address {
        self.0.address()
    }
}

impl QueueStore for Store {
    fn open(
        &self,
        container: &str,
        name: &str,
        spec: &QueueSpec,
        seed: u32,
        to: &Arc<Elsewhere>,
    ) -> Result<Arc<dyn ItemStore>> {
        Ok(Arc::new(Remote::open(&self.0, container, name, spec, seed, to)?))
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(self.address()).finish()
    }
}
