//! The state of a queue, for messages: [`QueueReport`], and [`Closing`], how and why a queue was closed.

use super::QueueSpec;
use std::fmt;
use std::time::Duration;

/// The cause of a closing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// The name of the node that closed the queue.
    pub by: String,
    /// The reason, if the caller of that node's run gave one: the input ended, or a runner failed.
    pub why: Option<String>,
    /// Whether waiting enqueues were cancelled.
    pub cancelled_pending: bool,
}

/// The purpose of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To enqueue items: waits for room.
    Enqueue,
    /// To close the queue: waits for earlier enqueues.
    Close,
    /// To dequeue items: waits for items.
    Dequeue,
}

/// An attempt in line.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The name of the node that makes the attempt.
    pub who: String,
    /// The purpose of the attempt.
    pub purpose: Purpose,
    /// The time it has waited.
    pub for_time: Duration,
}

/// The state of a queue at one moment.
#[derive(Clone, Debug)]
pub struct QueueReport {
    /// The name in the container.
    pub name: String,
    /// The type of the queue.
    pub spec: QueueSpec,
    /// The number of items in the queue.
    pub len: usize,
    /// The number of items ever enqueued.
    pub n_in: u64,
    /// The number of items dequeued; items that were returned to the queue do not count.
    pub n_out: u64,
    /// The waiting enqueues and closings, first in line first.
    pub enqueuing: Vec<Waiting>,
    /// The waiting dequeues, first in line first.
    pub dequeuing: Vec<Waiting>,
    /// How the queue was closed, if it was.
    pub closed: Option<Closing>,
    /// Whether dequeues wait for items that were handed out and may come back, although the queue is closed.
    pub awaits_lent: bool,
    /// The server that keeps the items, if they live outside this process; when it does not answer, that,
    /// and for how long.
    pub place: Option<String>,
    /// The processes that use a queue in a server, and those that were lost.
    pub clients: Vec<Client>,
    /// The number of elements of a barrier that lack a component.
    pub incomplete: usize,
    /// What the first of them lack.
    pub lacking: Vec<String>,
}

/// A process that uses a queue in a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its machine and number.
    pub name: String,
    /// Whether it is the process that asks.
    pub is_own: bool,
    /// The time since it was given up, if it no longer answers.
    pub gone: Option<Duration>,
    /// The number of attempts of it in line.
    pub waits: usize,
    /// The number of items that it was lent and has not used; of a process that is gone, the number of items
    /// that returned to the queue.
    pub lent: usize,
}

impl fmt::Display for Closing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "closed by `{}`", self.by)?;
        if self.cancelled_pending {
            f.write_str(", which cancelled pending enqueues")?;
        }
        match &self.why {
            Some(why) => write!(f, ": {why}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Purpose::Enqueue => "to enqueue",
            Purpose::Close => "to close it",
            Purpose::Dequeue => "to dequeue",
        })
    }
}

impl fmt::Display for QueueReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} '{}': {} of ", self.spec.kind, self.name, self.len)?;
        match self.spec.bound() {
            None => f.write_str("any number of")?,
            Some(capacity) => write!(f, "{capacity}")?,
        }
        write!(f, " items, {} in, {} out", self.n_in, self.n_out)?;
        for Waiting { who, purpose, for_time } in self.enqueuing.iter().chain(&self.dequeuing) {
            write!(f, "; `{who}` has waited {purpose} for {for_time:.1?}")?;
        }
        if let Some(closing) = &self.closed {
            write!(f, "; {closing}")?;
        }
        if let Some(place) = &self.place {
            write!(f, "; {place}")?;
        }
        if self.incomplete > 0 {
            let more = if self.lacking.len() < self.incomplete { ", .." } else { "" };
            write!(f, "; {} incomplete: {}{more}", self.incomplete, self.lacking.join(", "))?;
        }
        self.clients.iter().try_for_each(|client| write!(f, "; {client}"))
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Client { name, is_own, gone, waits, lent } = self;
        let own = if *is_own { " (this one)" } else { "" };
        match gone {
            Some(time) => {
                write!(f, "process {name}{own} has been gone for {time:.1?}, and {lent} items returned")
            }
            None => write!(f, "process {name}{own} waits {waits} times and holds {lent} items"),
        }
    }
}
