//! What runs a graph: the tiers, and the settings under which each must give the same values.

use millstream_graph::Graph;
use millstream_runtime::{Session, SessionOptions, Tier};
use millstream_tensor::Result;
use std::fmt;
use std::time::Duration;

/// A tier with settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// What runs.
    pub tier: Tier,
    /// On how many threads.
    pub threads: usize,
    /// How many iterations may be alive, if not what the graph says.
    pub parallel_iterations: Option<u32>,
    /// Whether every kernel may go to another thread.
    pub hand_out_all: bool,
}

/// The reference tier.
pub const REFERENCE: Setting =
    Setting { tier: Tier::Reference, threads: 1, parallel_iterations: None, hand_out_all: false };

/// The dataflow machine as a session has it by default, on two threads.
pub const DATAFLOW: Setting =
    Setting { tier: Tier::Dataflow, threads: 2, parallel_iterations: None, hand_out_all: false };

/// The bytes of tensors that a session of ours may have: what asks for more is to be refused, not to fill the machine.
pub const MEMORY_LIMIT: usize = 2 << 30;

/// One of each tier.
pub const TIERS: [Setting; 2] = [DATAFLOW, REFERENCE];

impl Setting {
    /// A session that keeps to this, and prints nowhere.
    pub fn session(&self, graph: &Graph, timeout: Option<Duration>) -> Result<Session> {
        let options = SessionOptions {
            threads: Some(self.threads),
            parallel_iterations: self.parallel_iterations,
            hand_out_all: self.hand_out_all,
            tier: self.tier,
            timeout,
            memory_limit: Some(MEMORY_LIMIT),
            print: Some(Box::new(|_| ())),
            ..SessionOptions::default()
        };
        Session::with_options(graph, options)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.tier)?;
        if self.tier == Tier::Dataflow {
            write!(f, ", {} threads", self.threads)?;
        }
        if let Some(n) = self.parallel_iterations {
            write!(f, ", {n} parallel iterations")?;
        }
        if self.hand_out_all {
            write!(f, ", all handed out")?;
        }
        Ok(())
    }
}
