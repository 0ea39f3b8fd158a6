//! The tiers that run graphs, and the settings under which all of them must give the same values.

use millstream_graph::Graph;
use millstream_runtime::{Session, SessionOptions, Tier};
use millstream_tensor::Result;
use std::fmt;
use std::time::Duration;

/// A tier with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The tier.
    pub tier: Tier,
    /// The number of threads.
    pub threads: usize,
    /// The number of iterations that may be alive; if `None`, as the graph says.
    pub parallel_iterations: Option<u32>,
    /// Whether every kernel may run on another thread.
    pub hand_out_all: bool,
    /// The work after which loops become machine code; if `None`, as in a session.
    pub compile_after: Option<u64>,
}

/// The reference tier.
pub const REFERENCE: Setting = Setting { tier: Tier::Reference, threads: 1, ..DATAFLOW };

/// The dataflow machine with the session's defaults, on two threads.
pub const DATAFLOW: Setting = Setting {
    tier: Tier::Dataflow,
    threads: 2,
    parallel_iterations: None,
    hand_out_all: false,
    compile_after: None,
};

/// The machine with loops that are machine code from the start.
pub const COMPILED: Setting = Setting { tier: Tier::Compiled, compile_after: Some(0), ..DATAFLOW };

/// The machine with loops that are interpreted and never compiled.
pub const INTERPRETED: Setting = Setting { compile_after: Some(u64::MAX), ..COMPILED };

/// The memory limit of a test's session in bytes: a test that asks for more fails instead of filling the
/// machine.
pub const MEMORY_LIMIT: usize = 2 << 30;

/// One setting of each tier.
pub const TIERS: [Setting; 3] = [COMPILED, DATAFLOW, REFERENCE];

impl Setting {
    /// A session with these settings that discards what the graph prints.
    pub fn session(&self, graph: &Graph, timeout: Option<Duration>) -> Result<Session> {
        let options = SessionOptions {
            threads: Some(self.threads),
            parallel_iterations: self.parallel_iterations,
            hand_out_all: self.hand_out_all,
            compile_after: self.compile_after,
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
        if self.tier != Tier::Reference {
            write!(f, ", {} threads", self.threads)?;
        }
        match self.compile_after {
            Some(0) => write!(f, ", compiled at once")?,
            Some(n) => write!(f, ", compiled after {n}")?,
            None => {}
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
