//! [`Collective`]: computations that several processes, the *ranks* of one job, make together: sums over all
//! ranks, gathered rows, a value that one rank has.
//!
//! # Layers
//!
//! ```text
//!   kernels ─► Collective::start      one call of one node, on this rank
//!              ├─ Alone               one process: every call is the identity
//!              └─ Ranks               names meet (`coordinator.rs`), one thread performs (`ranks.rs`)
//!                   └─ Transport      moves bytes: MPI, or channels between threads for tests
//! ```
//!
//! # What is guaranteed
//!
//! Calls are matched by the names of their nodes; the n-th call under a name meets the n-th calls of the
//! other ranks. The ranks perform the same calls in the same order, whatever the order in which each of them
//! makes them. Every element of a reduction is folded in the order of the ranks, by one rank, and sent to the
//! others. So all ranks get the same bits, and the bits depend neither on the transport nor on what else was
//! reduced at the same time.
//!
//! A transport need not reduce anything: a sum is an exchange of parts, a fold, and a gathering of parts,
//! which move as many bytes as the best algorithms do.

mod channels;
mod coordinator;
mod ranks;
mod reduce;
mod wire;

pub use channels::Channels;
pub use ranks::{Ranks, RanksOptions};

use crate::Cancellation;
use millstream_tensor::{DType, Error, Result, Tensor, ensure, invalid};
use std::fmt;
use std::sync::Arc;

/// What is done with the elements of all ranks that are at the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Their sum. That of f16 and bf16 is rounded once, at the end.
    Sum,
    /// Their sum, divided by the number of ranks. Of floats and complex numbers.
    Mean,
    /// The smallest. NaN if there is a NaN. Not of complex numbers.
    Min,
    /// The largest. NaN if there is a NaN. Not of complex numbers.
    Max,
}

impl Reduction {
    /// The names in attributes, in the order of the variants.
    pub const NAMES: &'static [&'static str] = &["sum", "mean", "min", "max"];
    const ALL: [Reduction; 4] = [Reduction::Sum, Reduction::Mean, Reduction::Min, Reduction::Max];

    /// The reduction of this name.
    pub fn parse(name: &str) -> Option<Reduction> {
        Self::ALL.into_iter().find(|reduction| reduction.name() == name)
    }

    /// The name in attributes.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// An error if there is no such reduction of these elements.
    pub fn check(self, dtype: DType) -> Result<()> {
        let complex = matches!(dtype, DType::C64 | DType::C128);
        let float = complex || matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
        match self {
            Reduction::Mean => ensure!(float, "there is no mean of {dtype}: sum it, and divide as you like"),
            Reduction::Min | Reduction::Max => {
                ensure!(!complex, "complex numbers have no order, so there is no {} of them", self.name());
            }
            Reduction::Sum => {}
        }
        Ok(())
    }
}

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The reduction over all ranks. The shapes are equal.
    AllReduce(Reduction),
    /// The rows of all ranks, one rank after another. The numbers of rows may differ.
    AllGather,
    /// The value of one rank. The shapes are equal.
    Broadcast {
        /// The rank that has the value.
        root: usize,
    },
    /// Some rows of the reduction over all ranks: those of rank 0 first.
    ReduceScatter(Reduction),
    /// The rows that each rank has for this one, one rank after another.
    AllToAll,
    /// Nothing, once all ranks have come.
    Barrier,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::AllReduce(reduction) => write!(f, "AllReduce ({})", reduction.name()),
            What::AllGather => f.write_str("AllGather"),
            What::Broadcast { root } => write!(f, "Broadcast (from rank {root})"),
            What::ReduceScatter(reduction) => write!(f, "ReduceScatter ({})", reduction.name()),
            What::AllToAll => f.write_str("CollectiveAllToAll"),
            What::Barrier => f.write_str("a barrier"),
        }
    }
}

/// One call of a rank.
#[derive(Clone, Debug)]
pub struct Call {
    /// What to do.
    pub what: What,
    /// The value of this rank. A barrier ignores it.
    pub value: Tensor,
    /// For [`What::AllToAll`] the rows for each rank, for [`What::ReduceScatter`] the rows that this rank
    /// takes, once. Empty: all ranks take equally many, and the first ones one more where they do not divide.
    pub splits: Vec<usize>,
}

/// Makes the results of a call, on a thread of the run that made it. An [`What::AllToAll`] has two: the rows,
/// and how many came from each rank (i32).
pub type Finish = Box<dyn FnOnce() -> Result<Vec<Tensor>> + Send>;

/// The node that makes a call.
pub struct Caller {
    /// Its name, under which the calls of the ranks meet.
    pub who: Arc<str>,
    /// Ends the wait when it is raised. The other ranks are told.
    pub cancel: Cancellation,
    /// Called once, on any thread, without a lock.
    pub ended: Box<dyn FnOnce(Result<Finish>) + Send>,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("who", &self.who).finish_non_exhaustive()
    }
}

/// The ranks of a job, as one of them sees them.
pub trait Collective: Send + Sync + fmt::Debug {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;
    /// The number of ranks.
    fn size(&self) -> usize;
    /// Begins a call, and returns without waiting for other ranks.
    fn start(&self, call: Call, caller: Caller);
    /// Says that this rank cannot make its next call under this name, so that the others do not wait for it:
    /// theirs end with an error that gives the reason.
    fn refuse(&self, who: &str, error: &Error);
}

/// The only rank of a job: every call returns its own value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Collective for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn start(&self, call: Call, caller: Caller) {
        let outputs = call.alone();
        (caller.ended)(outputs.map(|outputs| Box::new(move || Ok(outputs)) as Finish));
    }

    fn refuse(&self, _: &str, _: &Error) {}
}

impl Call {
    /// The results where there is one rank.
    pub fn alone(self) -> Result<Vec<Tensor>> {
        self.check(1)?;
        Ok(match self.what {
            What::Barrier => Vec::new(),
            What::AllToAll => {
                let rows = i32::try_from(self.value.shape()[0]);
                let rows = rows.map_err(|_| invalid!("{} rows are too many", self.value.shape()[0]))?;
                vec![self.value, Tensor::vector(&[rows])?]
            }
            _ => vec![self.value],
        })
    }

    /// An error if the call is wrong by itself, whatever the other ranks do.
    fn check(&self, size: usize) -> Result<()> {
        let (dtype, shape) = (self.value.dtype(), self.value.shape());
        ensure!(dtype.size().is_some(), "values of dtype {dtype} cannot be sent to other ranks");
        match self.what {
            What::AllReduce(reduction) => reduction.check(dtype)?,
            What::ReduceScatter(reduction) => reduction.check(dtype)?,
            What::Broadcast { root } => {
                ensure!(root < size, "there is no rank {root} to broadcast from: the job has {size} ranks");
            }
            What::AllGather | What::AllToAll | What::Barrier => {}
        }
        let of_rows = matches!(self.what, What::AllGather | What::AllToAll | What::ReduceScatter(_));
        ensure!(!of_rows || 0 < shape.rank(), "{} takes rows, but a scalar has none", self.what);
        let n_rows = shape.first().copied().unwrap_or(0);
        let sum = self.splits.iter().try_fold(0usize, |sum, &n| sum.checked_add(n));
        match self.what {
            What::AllToAll if !self.splits.is_empty() => {
                ensure!(
                    self.splits.len() == size,
                    "`splits` has {} entries, but the job has {size} ranks",
                    self.splits.len()
                );
                ensure!(sum == Some(n_rows), "the sum of `splits` must be {n_rows}, the number of rows");
            }
            What::ReduceScatter(_) => {
                ensure!(
                    sum.is_some_and(|sum| sum <= n_rows)
                        && (self.splits.is_empty() || 1 < size || sum == Some(n_rows)),
                    "this rank takes {} rows, but there are {n_rows}",
                    sum.unwrap_or(usize::MAX)
                );
            }
            _ => {}
        }
        Ok(())
    }
}

/// Moves bytes between ranks. One thread owns it and makes all calls; the collective ones (`all_gather`,
/// `all_to_all`, `broadcast`) are made by all ranks in the same order, with lengths that agree.
pub trait Transport: Send {
    /// The number of this rank.
    fn rank(&self) -> usize;
    /// The number of ranks.
    fn size(&self) -> usize;
    /// Sends a message to another rank, without waiting for it. Messages between two ranks keep their order.
    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<()>;
    /// A message that has come, with the rank that sent it. Does not wait.
    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>>;
    /// `data` consists of a part of `counts[r]` bytes for every rank r, in order, of which a rank has its
    /// own. Fills in the others.
    fn all_gather(&mut self, data: &mut [u8], counts: &[usize]) -> Result<()>;
    /// `from` consists of a part of `sent[r]` bytes for every rank r, in order, and `to` of a part of
    /// `taken[r]` bytes. Sends each rank its part, and takes in theirs. Leaves the part for this rank itself
    /// alone, on both sides.
    fn all_to_all(&mut self, from: &[u8], sent: &[usize], to: &mut [u8], taken: &[usize]) -> Result<()>;
    /// Fills `data` with that of the rank `root`.
    fn broadcast(&mut self, data: &mut [u8], root: usize) -> Result<()>;
    /// Waits, for a short time, until what was sent is on its way. Nothing is sent or received afterwards.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The sizes of `size` nearly equal shares of `n`; the first ones are larger by one.
fn shares(n: usize, size: usize) -> Vec<usize> {
    (0..size).map(|r| n / size + usize::from(r < n % size)).collect()
}

/// Returns where parts of these sizes begin, one after another: for the transports.
pub fn starts(sizes: &[usize]) -> Vec<usize> {
    let start = |at: &mut usize, n: &usize| Some(std::mem::replace(at, *at + n));
    sizes.iter().scan(0, start).collect()
}

fn ended(rank: usize, why: &str) -> Error {
    Error::new(millstream_tensor::Code::Unavailable, format!("rank {rank} has ended: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_begin_where_the_one_before_ends() {
        assert_eq!(starts(&shares(7, 3)), [0, 3, 5]);
    }
}
