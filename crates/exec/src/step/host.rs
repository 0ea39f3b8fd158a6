//! What the kernels of a run see of the session, and what the session sees of the run.

use millstream_graph::op::{PrintStream, StepEnv, StepHost};
use millstream_state::{Activity, Cancellation};
use millstream_tensor::Error;
use std::sync::Arc;

/// Marks a run as at work until it is dropped.
pub(crate) struct AtWork<'a>(&'a Activity);

impl AtWork<'_> {
    pub(crate) fn begin(activity: &Activity) -> AtWork<'_> {
        activity.begin();
        AtWork(activity)
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// A host that grants a kernel one thread.
pub(super) struct OneThread(Arc<dyn StepHost>);

impl OneThread {
    /// The environment with such a host.
    pub(super) fn of(env: &StepEnv) -> StepEnv {
        StepEnv { host: Arc::new(OneThread(env.host.clone())), ..env.clone() }
    }
}

impl StepHost for OneThread {
    fn print(&self, line: &str) {
        self.0.print(line);
    }
    fn print_to(&self, stream: PrintStream, text: &str) {
        self.0.print_to(stream, text);
    }
    fn threads(&self) -> usize {
        1
    }
    fn in_pool(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
    fn stalled(&self, cancel: &Cancellation, n_waits: usize) -> Option<Error> {
        self.0.stalled(cancel, n_waits)
    }
    fn waited(&self, cancel: &Cancellation, error: Error) -> Error {
        self.0.waited(cancel, error)
    }
    fn spawn(&self, work: Box<dyn FnOnce() + Send>) {
        self.0.spawn(work);
    }
}
