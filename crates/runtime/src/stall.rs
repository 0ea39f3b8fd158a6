//! [`Stalls`]: notices runs that would wait for a queue for ever, and tells what a run has waited for.
//!
//! What a thread of the program will do next cannot be known, so a run is taken to wait for ever once nothing
//! has happened for some time:
//!
//! - at once where every thread of the program waits in a run, and no thread of the engine has anything to do
//!   ([`Threads`]). This is a matter of the whole process: a function of one session may fill a queue of
//!   another;
//! - after [`UNSTARTED_GRACE`] without a run with the session's resources, where the queue has a runner that
//!   was never started;
//! - otherwise after [`SessionOptions::stall_grace`](crate::SessionOptions::stall_grace) without one.
//!
//! A queue in a server may be served by other processes, so a run that waits for one waits on while any other
//! process uses it.

use crate::QueueRunner;
use millstream_graph::{Attr, Graph};
use millstream_state::{AnyQueue, Cancellation, Purpose, Queue, Reader, Resources, Threads};
use millstream_tensor::{Code, Error};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long a run waits for a queue whose runner was never started. Long enough for a program that starts it
/// a little late.
const UNSTARTED_GRACE: Duration = Duration::from_secs(20);

/// For how long every thread must have been asleep: longer than a thread that was just created, or that
/// another library wakes, waits for a core on a busy machine.
const ALL_ASLEEP: Duration = Duration::from_millis(180);

/// What a session knows about the threads that might fill its queues.
pub(crate) struct Stalls {
    pub(crate) graph: Graph,
    /// The resources that sessions may share.
    pub(crate) resources: Arc<Resources>,
    /// The session's own resources.
    pub(crate) private: Arc<Resources>,
    pub(crate) grace: Duration,
    pub(crate) runners: Mutex<Runners>,
}

/// What became of the session's queue runners, by the nodes of their queues.
#[derive(Default)]
pub(crate) struct Runners {
    pub(crate) started: BTreeSet<String>,
    /// The errors of runners that ended without closing their queues.
    pub(crate) failed: BTreeMap<String, String>,
}

/// The reason to believe that nothing will happen.
enum Sure {
    AllAsleep,
    Unstarted(QueueRunner),
    Failed(String),
    Quiet(Duration),
    /// No other process uses the queue in the server.
    Alone(Duration),
}

/// A node that waits at a queue.
struct Wait {
    who: Arc<str>,
    purpose: Purpose,
    at: AnyQueue,
}

impl Wait {
    fn text(&self) -> String {
        let what = match self.purpose {
            Purpose::Dequeue if self.at.barrier.is_some() => {
                return format!(
                    "`{}` waits for complete elements of barrier `{}`",
                    self.who,
                    self.queue().name()
                );
            }
            Purpose::Dequeue => "for items",
            Purpose::Enqueue => "for room",
            Purpose::Close => "behind enqueues that wait for room",
        };
        format!("`{}` waits {what} in queue `{}`", self.who, self.queue().name())
    }

    fn queue(&self) -> &Queue {
        &self.at.queue
    }
}

impl Stalls {
    /// An error if a run that only waits, with `n_waits` kernels, would do so for ever. `cancel` is the
    /// run's.
    pub(crate) fn look(&self, cancel: &Cancellation, n_waits: usize) -> Option<Error> {
        let (waits, n_at_readers) = self.waits_of(cancel);
        let quiet = self.resources.quiet_for();
        let all_asleep = asleep_for(self.grace == Duration::MAX);
        if waits.len() + n_at_readers < n_waits {
            // It also waits for something other than queues, about which nothing is known.
            return None;
        }
        let first = waits.iter().find(|wait| wait.queue().is_elsewhere()).or(foremost(&waits))?;
        let sure = match first.queue().is_elsewhere() {
            true => self.is_left_alone(first, quiet)?,
            false => self.sure(first, quiet, all_asleep)?,
        };
        Some(self.told(&sure, first, &waits))
    }

    /// The error of a run that has taken too long or was interrupted, with what it waits for.
    pub(crate) fn waited(&self, cancel: &Cancellation, mut error: Error) -> Error {
        let (waits, _) = self.waits_of(cancel);
        let Some(first) = foremost(&waits) else { return error };
        for wait in waits.iter().take(4) {
            error = error.note(wait.text());
        }
        error = with_reports(error, &waits);
        match self.cause(first) {
            Some(Sure::Unstarted(runner)) => {
                error.note(never_started(&runner)).with_help(how_to_start(&runner))
            }
            Some(Sure::Failed(why)) => error.note(format!("the runner of the queue failed: {why}")),
            _ if error.code() == Code::DeadlineExceeded => {
                error.with_help("raise the timeout, or find out why nothing arrives")
            }
            _ => error,
        }
    }

    /// The waits of a run at queues, and the number of its reads that wait behind others.
    fn waits_of(&self, cancel: &Cancellation) -> (Vec<Wait>, usize) {
        let of = |at: AnyQueue| {
            let waits = at.queue.waits_of(cancel).into_iter();
            waits.map(move |(who, purpose)| Wait { who, purpose, at: at.clone() })
        };
        let queues = [&self.resources, &self.private].into_iter().flat_map(|resources| resources.queues());
        let waits = queues.flat_map(of).collect();
        (waits, self.all::<Reader>().map(|reader| reader.waits_of(cancel).len()).sum())
    }

    fn all<T: millstream_tensor::Opaque>(&self) -> impl Iterator<Item = Arc<T>> {
        let all = [&self.resources, &self.private];
        all.into_iter().flat_map(|resources| resources.all::<T>()).map(|(_, resource)| resource)
    }

    fn sure(&self, wait: &Wait, quiet: Duration, all_asleep: Duration) -> Option<Sure> {
        let cause = self.cause(wait);
        if ALL_ASLEEP.min(self.grace) <= all_asleep {
            return Some(cause.unwrap_or(Sure::AllAsleep));
        }
        if cause.is_some() && UNSTARTED_GRACE.min(self.grace) <= quiet {
            return cause;
        }
        (self.grace <= quiet).then_some(Sure::Quiet(quiet))
    }

    /// The reason to believe that no process will serve a queue that lives in a server.
    fn is_left_alone(&self, wait: &Wait, quiet: Duration) -> Option<Sure> {
        if quiet < self.grace {
            return None;
        }
        // None at all: the server did not answer, which ends the wait by itself.
        let clients = wait.at.report().clients;
        let alone =
            !clients.is_empty() && clients.iter().all(|client| client.is_own || client.gone.is_some());
        alone.then_some(Sure::Alone(quiet))
    }

    /// A runner that should have filled the queue and does not.
    fn cause(&self, wait: &Wait) -> Option<Sure> {
        if wait.purpose != Purpose::Dequeue {
            return None;
        }
        let name = wait.queue().name();
        // The runner of a reader of segments bears the name of the scope that its barrier is in.
        let of = |node: &str| {
            node == name || self.shared_name(node) == name || (node.ends_with('/') && name.starts_with(node))
        };
        let known = QueueRunner::known(&self.graph);
        let runners = self.runners.lock();
        if let Some((_, why)) = runners.failed.iter().find(|(node, _)| of(node)) {
            return Some(Sure::Failed(why.clone()));
        }
        let unstarted = |runner: &QueueRunner| !runners.started.contains(&runner.queue) && of(&runner.queue);
        known.into_iter().find(unstarted).map(Sure::Unstarted)
    }

    /// The name under which sessions share the queue that a node opens.
    fn shared_name(&self, node: &str) -> String {
        let Some(op) = self.graph.find(node) else { return String::new() };
        self.graph.read(|g| match g.node(op.id()).map(|node| node.info.attrs.get("shared_name")) {
            Ok(Some(Attr::Str(name))) => name.text().into_owned(),
            _ => String::new(),
        })
    }

    fn told(&self, sure: &Sure, first: &Wait, waits: &[Wait]) -> Error {
        let text = first.text();
        let message = match sure {
            Sure::Unstarted(runner) => format!("{text}, {}", never_started(runner)),
            Sure::Failed(why) => format!("{text}, whose runner failed: {why}"),
            Sure::AllAsleep => {
                format!("{text}, and no thread is left that could end the wait: all others wait, too")
            }
            Sure::Quiet(quiet) => {
                format!("{text}, and nothing has been run with the session's resources for {quiet:.1?}")
            }
            Sure::Alone(quiet) => format!(
                "{text}, which no other process uses, and nothing has been run with the session's resources \
                 for {quiet:.1?}"
            ),
        };
        let error = with_reports(Error::new(Code::FailedPrecondition, message), waits);
        match sure {
            Sure::Unstarted(runner) => error.with_help(how_to_start(runner)),
            Sure::Failed(_) => error.with_help("fix the cause of that error, then start the runner again"),
            Sure::AllAsleep => error.with_help(
                "let another thread or a queue runner provide what the run waits for, or give the run a timeout",
            ),
            Sure::Quiet(_) | Sure::Alone(_) => error.with_help(
                "if another thread will still provide it, raise `SessionOptions::stall_grace` (`--stall-grace`; in Python `ConfigProto.stall_grace_in_ms`)",
            ),
        }
    }
}

/// The wait that messages name: for items, if there is such a one.
fn foremost(waits: &[Wait]) -> Option<&Wait> {
    waits.iter().find(|wait| wait.purpose == Purpose::Dequeue).or(waits.first())
}

/// The error with the state of each queue.
fn with_reports(mut error: Error, waits: &[Wait]) -> Error {
    let mut told: Vec<&str> = Vec::new();
    for wait in waits {
        if told.len() < 8 && !told.contains(&wait.queue().name()) {
            told.push(wait.queue().name());
            error = error.note(wait.at.report().to_string());
        }
    }
    error
}

fn never_started(runner: &QueueRunner) -> String {
    format!("whose runner was never started ({})", listed(&runner.enqueue_ops))
}

fn how_to_start(runner: &QueueRunner) -> String {
    let how = runner
        .started_by()
        .unwrap_or("`session.start_queue_runners(&coordinator)`, or `session.with_queue_runners(..)`");
    format!("start the runners first: {how}")
}

fn listed(ops: &[String]) -> String {
    match ops {
        [] => "it has no operations".to_owned(),
        [one] => format!("`{one}`"),
        [first, rest @ ..] => format!("`{first}` and {} more", rest.len()),
    }
}

/// The number of threads of the program that might do something.
type Census = Box<dyn Fn() -> Option<usize> + Send + Sync>;

static CENSUS: OnceLock<Census> = OnceLock::new();

/// Sets how threads of the program are counted, instead of all threads of the process but the engine's. For
/// programs in which a language's runtime knows its threads: those of other libraries, which never run the
/// program's code, do not count then. Only the first call has an effect.
pub fn count_threads_with(census: impl Fn() -> Option<usize> + Send + Sync + 'static) {
    let _ = CENSUS.set(Box::new(census));
}

/// The time for which no thread of the process could have done anything, as far as observed. `strictly`:
/// threads of other libraries count, too.
fn asleep_for(strictly: bool) -> Duration {
    /// The changes at the first look that found all threads asleep, and its time; also for strict looks.
    static SINCE: [Mutex<Option<(u64, Instant)>>; 2] = [Mutex::new(None), Mutex::new(None)];
    let threads = Threads::now();
    let all = programs_threads(&threads, strictly);
    let asleep = !threads.at_work && all.is_some_and(|all| all <= threads.asleep);
    let mut since = SINCE[strictly as usize].lock();
    match *since {
        Some((changes, begin)) if asleep && changes == threads.changes => begin.elapsed(),
        _ => {
            *since = asleep.then(|| (threads.changes, Instant::now()));
            Duration::ZERO
        }
    }
}

/// The number of the program's threads; `None` where it is not known.
fn programs_threads(threads: &Threads, strictly: bool) -> Option<usize> {
    match CENSUS.get() {
        Some(census) if !strictly => census(),
        _ => Some(threads_of_process()?.saturating_sub(threads.engines)),
    }
}

fn threads_of_process() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
}
