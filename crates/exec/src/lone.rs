//! An environment for kernels that run outside of any session: constant folding, tests.

use millstream_graph::op::{StepEnv, StepHost};
use millstream_state::{Activity, Cancellation, Resources};
use std::sync::Arc;

struct Nowhere;

impl StepHost for Nowhere {
    fn print(&self, _line: &str) {}
    fn threads(&self) -> usize {
        1
    }
    fn in_pool(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
    fn spawn(&self, work: Box<dyn FnOnce() + Send>) {
        work();
    }
}

/// An environment with resources of its own, one thread, and nobody to print to.
pub fn env() -> StepEnv {
    StepEnv {
        resources: Arc::new(Resources::new()),
        step_resources: Arc::new(Resources::new()),
        kernel_state: Arc::new(Resources::new()),
        container: "".into(),
        cancel: Cancellation::new(),
        activity: Activity::default(),
        why: None,
        host: Arc::new(Nowhere),
    }
}
