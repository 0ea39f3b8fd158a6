//! The sources under test, with what they find beside them.

#[path = "../../src/step/host.rs"]
mod host;
#[path = "../../src/step/sleep.rs"]
mod sleep;
#[path = "../../src/step/team.rs"]
mod team;
#[path = "../../src/step/workers.rs"]
mod workers;

mod options {
    pub(super) use crate::options::RunOptions;
}

use crate::machine::Machine;
use crate::options::RunOptions;
use crate::plan::Plan;
use crate::poll::Poll;
use crate::sync::Ordering::SeqCst;
use millstream_graph::op::StepEnv;
use millstream_tensor::Result;
use std::sync::Arc;
use std::time::Instant;
use team::Team;

/// Two nodes, then a look: more places at which threads meet.
const TURN: usize = 2;

const PANICKED: &str = "the run panicked";

/// As the crate's, for runs without a deadline.
fn check(env: &StepEnv, _: Option<Instant>, _: Option<&Poll>) -> Result<()> {
    env.cancel.check()
}

/// Runs a plan on `threads` threads.
pub(crate) fn run(plan: &Arc<Plan>, env: &StepEnv, threads: usize) -> Result<()> {
    let team = Arc::new(Team::new(plan, env, &RunOptions::default(), threads));
    *team.machine.lock() = Machine::new(plan);
    let _at_work = host::AtWork::begin(&env.activity);
    let result = team.run();
    let machine = team.machine.lock();
    assert_eq!(machine.running, 0, "the caller waits for tasks");
    assert!(machine.most_running.load(SeqCst) <= threads, "too many tasks run at a time");
    if result.is_ok() {
        assert!(machine.has_run_all_once(plan));
    }
    result
}
