//! [`Stalls`]: notices runs that would wait for a queue for ever.
//!
//! What a thread outside of the engine will do next cannot be known, so a run is taken to wait for ever once
//! nothing has happened with the session's resources for some time:
//!
//! - at once where every thread of the process waits in a run, or is the engine's own;
//! - after [`UNSTARTED_GRACE`] where the queue has a runner in the graph that was never started;
//! - otherwise after [`SessionOptions::stall_grace`](crate::SessionOptions::stall_grace).

use crate::QueueRunner;
use millstream_graph::{Attr, Graph};
use millstream_state::{Asleep, Cancellation, Purpose, Queue, Resources};
use millstream_tensor::{Code, Error};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::time::Duration;

/// How long a run waits for a queue whose runner was never started. Long enough for a program that starts it
/// a little late.
const UNSTARTED_GRACE: Duration = Duration::from_secs(20);

/// For how long every thread must have been asleep.
const ALL_ASLEEP: Duration = Duration::from_millis(150);

/// The number of threads that the engine has started. They do nothing unless a run asks for it.
static N_OWN_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Counts the calling thread as one of the engine's, which runs nothing by itself.
pub(crate) fn own_thread_began() {
    N_OWN_THREADS.fetch_add(1, AcqRel);
}

/// Takes the calling thread, which ends, off the count.
pub(crate) fn own_thread_ended() {
    N_OWN_THREADS.fetch_sub(1, AcqRel);
}

/// What a session knows about the threads that might fill its queues.
pub(crate) struct Stalls {
    pub(crate) graph: Graph,
    /// The resources that sessions may share.
    pub(crate) resources: Arc<Resources>,
    /// The session's own resources.
    pub(crate) private: Arc<Resources>,
    pub(crate) grace: Duration,
    /// The queues whose runners were started, by their nodes.
    pub(crate) started: Mutex<BTreeSet<String>>,
}

/// The reason to believe that nothing will happen.
enum Sure {
    AllAsleep,
    Unstarted(QueueRunner),
    Quiet(Duration),
}

impl Stalls {
    /// An error if a run that only waits, with `n_waits` kernels, would do so for ever. `cancel` is the
    /// run's.
    pub(crate) fn look(&self, cancel: &Cancellation, n_waits: usize) -> Option<Error> {
        let waits: Vec<_> = self
            .queues()
            .map(|queue| (queue.waits_of(cancel), queue))
            .filter(|(waits, _)| !waits.is_empty())
            .collect();
        let n_at_queues: usize = waits.iter().map(|(waits, _)| waits.len()).sum();
        let quiet = self.resources.quiet_for();
        let (at_first, queue) = waits.first()?;
        if n_at_queues < n_waits {
            // It also waits for something other than queues, about which nothing is known.
            return None;
        }
        let taking = at_first.iter().find(|(_, purpose)| *purpose == Purpose::Dequeue);
        let sure = self.sure(queue, taking.is_some(), quiet)?;
        let (who, purpose) = taking.or(at_first.first())?;
        let what = match purpose {
            Purpose::Dequeue => "for items",
            Purpose::Enqueue => "for room",
            Purpose::Close => "behind enqueues that wait for room",
        };
        Some(told(&sure, who, what, queue, waits.iter().map(|(_, queue)| &**queue)))
    }

    fn queues(&self) -> impl Iterator<Item = Arc<Queue>> {
        let all = [&self.resources, &self.private];
        all.into_iter().flat_map(|resources| resources.all::<Queue>()).map(|(_, queue)| queue)
    }

    fn sure(&self, queue: &Queue, for_items: bool, quiet: Duration) -> Option<Sure> {
        let grace = self.grace;
        if let Some(runner) = self.unstarted(queue).filter(|_| for_items)
            && UNSTARTED_GRACE.min(grace) <= quiet
        {
            return Some(Sure::Unstarted(runner));
        }
        if ALL_ASLEEP.min(grace) <= quiet && all_asleep() {
            return Some(match self.unstarted(queue).filter(|_| for_items) {
                Some(runner) => Sure::Unstarted(runner),
                None => Sure::AllAsleep,
            });
        }
        (grace <= quiet).then_some(Sure::Quiet(quiet))
    }

    /// A runner of the queue that is in the graph and was not started.
    fn unstarted(&self, queue: &Queue) -> Option<QueueRunner> {
        let started = self.started.lock().clone();
        let fills = |runner: &QueueRunner| {
            !started.contains(&runner.queue)
                && (runner.queue == queue.name() || self.shared_name(&runner.queue) == queue.name())
        };
        QueueRunner::of_graph(&self.graph).into_iter().find(fills)
    }

    /// The name under which sessions share the queue that a node opens.
    fn shared_name(&self, node: &str) -> String {
        let Ok(op) = self.graph.operation(node) else { return String::new() };
        self.graph.read(|g| match g.node(op.id()).map(|node| node.info.attrs.get("shared_name")) {
            Ok(Some(Attr::Str(name))) => name.text().into_owned(),
            _ => String::new(),
        })
    }
}

fn told<'q>(
    sure: &Sure,
    who: &str,
    what: &str,
    queue: &Queue,
    waited_for: impl Iterator<Item = &'q Queue>,
) -> Error {
    let message = match sure {
        Sure::Unstarted(runner) => format!(
            "`{who}` waits {what} in queue `{}`, whose runner was never started ({})",
            queue.name(),
            listed(&runner.enqueue_ops)
        ),
        Sure::AllAsleep => format!(
            "`{who}` waits {what} in queue `{}`, and no thread is left that could end the wait: all others wait, too",
            queue.name()
        ),
        Sure::Quiet(quiet) => format!(
            "`{who}` waits {what} in queue `{}`, and nothing has been run with the session's resources for {quiet:.1?}",
            queue.name()
        ),
    };
    let mut error = Error::new(Code::FailedPrecondition, message);
    for queue in waited_for.take(8) {
        error = error.note(queue.report().to_string());
    }
    error.with_help(match sure {
        Sure::Unstarted(..) => {
            "start the runners first: `session.start_queue_runners(&coordinator)`, or `session.with_queue_runners(..)`"
        }
        Sure::AllAsleep => {
            "let another thread, or a queue runner, do what is waited for; or give the run a timeout"
        }
        Sure::Quiet(_) => "if some thread will still do what is waited for, raise `SessionOptions::stall_grace` (`--stall-grace`)",
    })
}

fn listed(ops: &[String]) -> String {
    match ops {
        [] => "it has no operations".to_owned(),
        [one] => format!("`{one}`"),
        [first, rest @ ..] => format!("`{first}` and {} more", rest.len()),
    }
}

/// Whether every thread of the process is asleep in a run or is one of the engine's own. `false` where that
/// is not known.
fn all_asleep() -> bool {
    n_threads().is_some_and(|all| all <= N_OWN_THREADS.load(Acquire) + Asleep::count())
}

/// The number of threads of the process.
fn n_threads() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
}
