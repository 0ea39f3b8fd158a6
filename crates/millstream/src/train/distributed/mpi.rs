//! [`Job`]: the ranks that an MPI launcher has started, and the transport between them.
//!
//! `unsafe` is here for messages that are sent without waiting: MPI reads them after the call has returned.

#![expect(unsafe_code, reason = "MPI's messages without a wait, and a communicator that changes its thread")]

use super::{Collective, Ranks, RanksOptions, Transport};
use ::mpi::datatype::{Partition, PartitionMut};
use ::mpi::environment::Universe;
use ::mpi::ffi::{self, MPI_Request};
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{AsRaw, Communicator, CommunicatorCollectives, Equivalence, Root, Source};
use ::mpi::{Count, Rank, Tag, Threading};
use millstream_state::collective::starts;
use millstream_tensor::{Code, Error, Result, ensure};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The tag of the engine's messages, on a communicator of its own.
const TAG: Tag = 17;

/// How long an ending rank waits until what it sent is on its way.
const FAREWELL: Duration = Duration::from_secs(2);

/// The job of MPI processes that this one belongs to. Without a launcher it is a job of one.
///
/// MPI ends with it, so it lives as long as the sessions that have its [`Job::ranks`].
///
/// ```no_run
/// use millstream::prelude::*;
/// use millstream::SessionOptions;
/// use millstream::train::distributed::{Collective, Job};
///
/// let job = Job::join(Default::default())?;
/// let g = Graph::new();
/// let sum = g.op("AllReduce").input(g.op("CollectiveRank").output()).output();
/// let options = SessionOptions { collective: Some(job.ranks()), ..SessionOptions::default() };
/// let sum: i32 = Session::with_options(&g, options)?.run(sum, feed![])?;
/// println!("rank {} of {}: {sum}", job.ranks().rank(), job.ranks().size());
/// # Ok::<(), millstream::Error>(())
/// ```
pub struct Job {
    ranks: Arc<Ranks>,
    /// MPI, which must be finalized by this thread, after the thread of `ranks` has ended.
    _universe: Universe,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("ranks", &self.ranks).finish_non_exhaustive()
    }
}

impl Job {
    /// Initializes MPI and joins the job. An error if MPI has been initialized before, or does not support
    /// several threads (`MPI_THREAD_MULTIPLE`).
    pub fn join(options: RanksOptions) -> Result<Job> {
        let Some((universe, threads)) = ::mpi::initialize_with_threading(Threading::Multiple) else {
            return Err(Error::new(Code::FailedPrecondition, "MPI has been initialized before"));
        };
        ensure!(Threading::Multiple <= threads, "this MPI does not support MPI_THREAD_MULTIPLE");
        let comm = universe.world().duplicate();
        let (rank, size) = (index(comm.rank())?, index(comm.size())?);
        let transport = Mpi { rank, size, comm, sent: Vec::new(), own: Vec::new() };
        Ok(Job { ranks: Arc::new(Ranks::start(transport, options)?), _universe: universe })
    }

    /// Returns the ranks, for the options of a session.
    pub fn ranks(&self) -> Arc<dyn Collective> {
        self.ranks.clone()
    }

    /// Leaves the job. Ranks that wait for this one get an error with the reason. Dropping the job leaves it,
    /// too.
    pub fn leave(self, why: &str) {
        self.ranks.shutdown(why);
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.ranks.shutdown("its program ended");
    }
}

/// An end of the transport.
struct Mpi {
    rank: usize,
    size: usize,
    comm: SimpleCommunicator,
    /// What was sent and may still be read by MPI.
    sent: Vec<Sent>,
    /// A copy of this rank's part: MPI's buffers for sending and receiving must not overlap.
    own: Vec<u8>,
}

// SAFETY: a communicator is a handle without ties to a thread, and MPI was initialized for calls from several
// threads. The other fields are owned.
unsafe impl Send for Mpi {}

struct Sent {
    request: MPI_Request,
    message: Vec<u8>,
}

impl Sent {
    fn has_left(&mut self) -> bool {
        let mut flag = 0;
        // SAFETY: the request is that of a send, or null after it has left, which MPI takes as completed.
        unsafe { ffi::MPI_Test(&mut self.request, &mut flag, ffi::RSMPI_STATUS_IGNORE) };
        flag != 0
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        for mut sent in self.sent.drain(..) {
            if !sent.has_left() {
                // MPI may read the message until the process ends.
                std::mem::forget(std::mem::take(&mut sent.message));
            }
        }
    }
}

fn index(n: Rank) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::internal(format!("MPI has a rank {n}")))
}

/// A number of bytes or a rank, as MPI's C functions take it.
fn count(n: usize) -> Result<Count> {
    Count::try_from(n).map_err(|_| Error::internal(format!("{n} bytes at once are too many for MPI")))
}

fn counts(numbers: &[usize]) -> Result<Vec<Count>> {
    numbers.iter().map(|&n| count(n)).collect()
}

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn send(&mut self, to: usize, message: Vec<u8>) -> Result<()> {
        let (n, to) = (count(message.len())?, count(to)?);
        let mut request = std::mem::MaybeUninit::uninit();
        // SAFETY: the message is kept in `sent`, at the same address, until MPI has read it.
        let request = unsafe {
            let bytes = u8::equivalent_datatype().as_raw();
            let (from, comm) = (message.as_ptr().cast(), self.comm.as_raw());
            ffi::MPI_Isend(from, n, bytes, to, TAG, comm, request.as_mut_ptr());
            request.assume_init()
        };
        self.sent.push(Sent { request, message });
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        self.sent.retain_mut(|sent| !sent.has_left());
        let Some((message, status)) = self.comm.any_process().immediate_matched_probe_with_tag(TAG) else {
            return Ok(None);
        };
        let mut bytes = vec![0u8; index(status.count(u8::equivalent_datatype()))?];
        message.matched_receive_into(&mut bytes[..]);
        Ok(Some((index(status.source_rank())?, bytes)))
    }

    fn all_gather(&mut self, data: &mut [u8], sizes: &[usize]) -> Result<()> {
        let at = starts(sizes)[self.rank];
        self.own.clear();
        self.own.extend_from_slice(&data[at..at + sizes[self.rank]]);
        let mut parts = PartitionMut::new(data, counts(sizes)?, counts(&starts(sizes))?);
        self.comm.all_gather_varcount_into(&self.own[..], &mut parts);
        Ok(())
    }

    fn all_to_all(&mut self, from: &[u8], sent: &[usize], to: &mut [u8], taken: &[usize]) -> Result<()> {
        let others = |sizes: &[usize]| {
            let mut sizes = counts(sizes)?;
            sizes[self.rank] = 0;
            Ok::<_, Error>(sizes)
        };
        let outgoing = Partition::new(from, others(sent)?, counts(&starts(sent))?);
        let mut incoming = PartitionMut::new(to, others(taken)?, counts(&starts(taken))?);
        self.comm.all_to_all_varcount_into(&outgoing, &mut incoming);
        Ok(())
    }

    fn broadcast(&mut self, data: &mut [u8], root: usize) -> Result<()> {
        self.comm.process_at_rank(count(root)?).broadcast_into(data);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let until = Instant::now() + FAREWELL;
        while !self.sent.is_empty() && Instant::now() < until {
            self.sent.retain_mut(|sent| !sent.has_left());
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}
