//! [`Host`]: what a session offers to kernels.

use crate::stall::Stalls;
use millstream_graph::op::{PrintStream, StepHost};
use millstream_state::{Cancellation, Job, Threads};
use millstream_tensor::{Error, budget};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io::Write;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// Takes the texts that the program prints, each with its own line end.
pub(crate) type Printer = Box<dyn Fn(&str) + Send + Sync>;

/// A session's threads, started when they are first needed, and its printer.
pub(crate) struct Host {
    threads: usize,
    pool: OnceLock<Option<ThreadPool>>,
    /// Takes all texts; `None` if they go where the graph says.
    print: Option<Printer>,
    pub(crate) stalls: Stalls,
}

impl Host {
    pub(crate) fn new(threads: usize, print: Option<Printer>, stalls: Stalls) -> Host {
        Host { threads: threads.max(1), pool: OnceLock::new(), print, stalls }
    }

    fn pool(&self) -> Option<&ThreadPool> {
        let build = || {
            ThreadPoolBuilder::new()
                .num_threads(self.threads)
                .thread_name(|i| format!("millstream-{i}"))
                .start_handler(|_| Threads::engines_began())
                .exit_handler(|_| Threads::engines_ended())
                .build()
                .ok()
        };
        self.pool.get_or_init(build).as_ref()
    }
}

impl StepHost for Host {
    fn print(&self, text: &str) {
        self.print_to(PrintStream::Err, text);
    }

    fn print_to(&self, stream: PrintStream, text: &str) {
        match &self.print {
            Some(print) => print(text),
            None => print_to(stream, text),
        }
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn in_pool(&self, work: &mut (dyn FnMut() + Send)) {
        match self.pool() {
            Some(pool) => pool.install(work),
            // No thread could be started, so the caller's does the work.
            None => work(),
        }
    }

    fn share(&self, threads: usize, work: &(dyn Fn() + Sync)) {
        match self.pool() {
            Some(pool) if 1 < threads => {
                // The other threads have the caller's budget, deadline and cancellation.
                let here = budget::here();
                pool.in_place_scope(|scope| {
                    for _ in 1..threads.min(self.threads) {
                        scope.spawn(|_| {
                            let _here = here.enter();
                            work();
                        });
                    }
                    work();
                });
            }
            _ => work(),
        }
    }

    fn stalled(&self, cancel: &Cancellation, n_waits: usize) -> Option<Error> {
        self.stalls.look(cancel, n_waits)
    }

    fn waited(&self, cancel: &Cancellation, error: Error) -> Error {
        self.stalls.waited(cancel, error)
    }

    fn spawn(&self, work: Box<dyn FnOnce() + Send>) {
        match self.pool() {
            Some(pool) => {
                let job = Job::begin();
                pool.spawn(move || {
                    let _job = job;
                    work();
                });
            }
            None => work(),
        }
    }
}

/// Writes a text to a stream of the process. Nobody can be told of a stream that is closed.
fn print_to(stream: PrintStream, text: &str) {
    let _ = match stream {
        PrintStream::Out => {
            let mut out = std::io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        }
        PrintStream::Err => std::io::stderr().write_all(text.as_bytes()),
        // A line of TensorFlow's log, which ends every message with a line end.
        PrintStream::Log(level) => {
            std::io::stderr().write_all(format!("{}: {level} {text}\n", now()).as_bytes())
        }
    };
}

/// Returns the time in UTC, `2019-10-14 12:00:00.000000`.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, of_day) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{:06}", since.subsec_micros())
}

/// Returns year, month and day of a number of days after 1970-01-01. Years begin with March, so that the day
/// of a leap year is their last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    fn stalls() -> Stalls {
        Stalls {
            graph: millstream_graph::Graph::with_ops(millstream_ops::registry()),
            resources: Arc::default(),
            private: Arc::default(),
            grace: std::time::Duration::MAX,
            runners: Default::default(),
        }
    }

    #[test]
    fn days_have_dates() {
        for (days, expected) in
            [(0, (1970, 1, 1)), (59, (1970, 3, 1)), (11_016, (2000, 2, 29)), (18_183, (2019, 10, 14))]
        {
            assert_eq!(date(days), expected, "{days}");
        }
    }

    #[test]
    fn shared_work_is_done_once_by_no_more_threads_than_asked_for() {
        for (pool, asked) in [(1, 1), (1, 4), (3, 1), (3, 2), (3, 8)] {
            let host = Host::new(pool, Some(Box::new(|_| {})), stalls());
            let (calls, taken, done) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
            host.share(asked, &|| {
                calls.fetch_add(1, Relaxed);
                while taken.fetch_add(1, Relaxed) < 100 {
                    done.fetch_add(1, Relaxed);
                }
            });
            assert_eq!(done.into_inner(), 100);
            assert_eq!(calls.into_inner(), pool.min(asked), "{pool} {asked}");
        }
    }
}
