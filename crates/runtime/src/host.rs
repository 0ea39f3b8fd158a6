//! [`Host`]: what a session offers to kernels.

use crate::stall::Stalls;
use millstream_graph::op::StepHost;
use millstream_state::{Cancellation, Job, Threads};
use millstream_tensor::{Error, budget};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// Takes the texts that the program prints, each with its own line end.
pub(crate) type Printer = Box<dyn Fn(&str) + Send + Sync>;

/// A session's threads, started when they are first needed, and its printer.
pub(crate) struct Host {
    threads: usize,
    pool: OnceLock<Option<ThreadPool>>,
    print: Printer,
    pub(crate) stalls: Stalls,
}

impl Host {
    pub(crate) fn new(threads: usize, print: Printer, stalls: Stalls) -> Host {
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
        (self.print)(text);
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
    fn shared_work_is_done_once_by_no_more_threads_than_asked_for() {
        for (pool, asked) in [(1, 1), (1, 4), (3, 1), (3, 2), (3, 8)] {
            let host = Host::new(pool, Box::new(|_| {}), stalls());
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
