//! [`Allowance`]: the bytes and nodes that an import may still make.

use millstream_tensor::{Code, Error, Result};
use std::time::Instant;

/// The bytes that a node takes besides its name and the values of its attributes: in the message with its
/// functions expanded, in the graph, and in the program that is verified. A graph of 2^19 NoOps in functions
/// took 1.4 KiB a node (2026-11).
const NODE: usize = 1600;

/// The bytes that an input takes in the same places.
const INPUT: usize = 160;

/// The bytes that an output takes.
pub(crate) const OUTPUT: usize = 400;

/// The remaining bytes and nodes. Running out of them is an error before anything is allocated.
pub(crate) struct Allowance {
    bytes: usize,
    bytes_left: usize,
    nodes: usize,
    nodes_left: usize,
    deadline: Option<Instant>,
    /// The number of requests until the next look at the clock.
    until_look: u32,
}

impl Allowance {
    /// The number of requests between looks at the clock.
    const LOOK_EVERY: u32 = 256;

    pub(crate) fn new(bytes: usize, nodes: usize, deadline: Option<Instant>) -> Allowance {
        Allowance { bytes, bytes_left: bytes, nodes, nodes_left: nodes, deadline, until_look: 0 }
    }

    /// Returns an error if the deadline has passed.
    pub(crate) fn look(&self) -> Result<()> {
        match self.deadline {
            Some(deadline) if deadline <= Instant::now() => {
                let error = Error::new(Code::DeadlineExceeded, "the import did not end in the time allowed");
                Err(error.with_help("raise the timeout"))
            }
            _ => Ok(()),
        }
    }

    /// Reserves `count` elements of `size` bytes. Everything that an import makes comes by here, so the
    /// deadline is looked at here too.
    pub(crate) fn take(&mut self, count: usize, size: usize) -> Result<()> {
        if self.until_look == 0 {
            self.look()?;
            self.until_look = Self::LOOK_EVERY;
        }
        self.until_look -= 1;
        let wanted = count.checked_mul(size);
        let left = wanted.and_then(|wanted| self.bytes_left.checked_sub(wanted)).ok_or_else(|| {
            let wanted = wanted.map_or("more bytes than there can be".into(), |w| format!("{w} bytes more"));
            Error::new(
                Code::ResourceExhausted,
                format!("the graph needs {wanted}, over the limit of {} bytes for an import", self.bytes),
            )
            .with_help("raise the import's `memory_limit`")
        })?;
        self.bytes_left = left;
        Ok(())
    }

    /// Reserves a node with this many inputs, control inputs included.
    pub(crate) fn take_node(&mut self, inputs: usize) -> Result<()> {
        self.take(NODE.saturating_add(inputs.saturating_mul(INPUT)), 1)?;
        self.nodes_left = self.nodes_left.checked_sub(1).ok_or_else(|| {
            Error::new(
                Code::ResourceExhausted,
                format!("with its functions written out the graph has more than {} nodes", self.nodes),
            )
            .with_help("raise the import's `max_nodes`")
        })?;
        Ok(())
    }
}
