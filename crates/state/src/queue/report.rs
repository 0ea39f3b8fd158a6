//! What a queue tells of itself: [`QueueReport`], and [`Closing`], the story of its end.

use super::QueueSpec;
use std::fmt;
use std::time::Duration;

/// Who closed a queue, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// The node that did.
    pub by: String,
    /// Why, if whoever ran that node said so: the input ended, or a runner failed.
    pub why: Option<String>,
    /// Whether enqueues that waited were cancelled.
    pub cancelled_pending: bool,
}

/// What somebody in line is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To put something in: waits for room.
    Enqueue,
    /// To close it: waits for the enqueues before it.
    Close,
    /// To take something out: waits for items.
    Dequeue,
}

/// Somebody in line.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The node that asks.
    pub who: String,
    /// What for.
    pub purpose: Purpose,
    /// For how long it has waited.
    pub for_time: Duration,
}

/// A queue at one moment.
#[derive(Clone, Debug)]
pub struct QueueReport {
    /// Its name in its container.
    pub name: String,
    /// What it holds, and how.
    pub spec: QueueSpec,
    /// How many items are in it.
    pub len: usize,
    /// How many items ever went in.
    pub n_in: u64,
    /// How many came out to stay out.
    pub n_out: u64,
    /// Who waits to put something in, or to close it, first in line first.
    pub enqueuing: Vec<Waiting>,
    /// Who waits to take something out.
    pub dequeuing: Vec<Waiting>,
    /// How it was closed, if it was.
    pub closed: Option<Closing>,
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
        match &self.closed {
            Some(closing) => write!(f, "; {closing}"),
            None => Ok(()),
        }
    }
}
