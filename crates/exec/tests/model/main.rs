//! The threads of a run under a model checker. The sources of the team, its workers and the caller's sleep
//! are compiled with locks and flags that switch threads at every use, around a small machine, and
//! thousands of random schedules from fixed seeds are tried, with few switches and with many. A thread that
//! is never woken is a deadlock, which the checker reports; every node runs once, and never more tasks at a
//! time than there are threads.

mod machine;
mod options;
mod step;
#[expect(dead_code, reason = "the locks of another model, too")]
mod sync;

use machine::{Kind, Node};
use millstream_graph::op::{StepEnv, StepHost, lone};
use millstream_tensor::{Code, Error};
use std::sync::Arc;
use step::run;

/// Stand-ins under the names that the sources use. A run here has no poll and shows no progress.
mod plan {
    pub(crate) type Plan = Vec<crate::machine::Node>;
}
mod poll {
    #[derive(Clone)]
    pub(crate) enum Poll {}

    impl Poll {
        pub(crate) const EVERY: std::time::Duration = std::time::Duration::from_millis(50);

        pub(crate) fn ask(&self, _: &millstream_state::Loans) -> millstream_tensor::Result<()> {
            match *self {}
        }
    }
}
mod progress {
    #[derive(Clone)]
    pub(crate) enum Progress {}

    impl Progress {
        pub(crate) const EVERY: std::time::Duration = std::time::Duration::from_millis(50);

        pub(crate) fn look(&self, _: &mut crate::machine::Machine, _: &crate::plan::Plan) {
            match *self {}
        }
        pub(crate) fn tick(&self) {
            match *self {}
        }
    }
}

/// Tries `schedules` random schedules, and others with few switches.
fn check(schedules: usize, program: impl Fn() + Send + Sync + Copy + 'static) {
    shuttle::check_random(program, schedules);
    for switches in 1..=4 {
        shuttle::check_pct(program, schedules / 4, switches);
    }
}

/// Starts a thread for each piece of work, as a pool with threads enough does.
struct Pool;

impl StepHost for Pool {
    fn print(&self, _: &str) {}
    fn threads(&self) -> usize {
        1
    }
    fn in_pool(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }
    fn spawn(&self, work: Box<dyn FnOnce() + Send>) {
        shuttle::thread::spawn(work);
    }
}

fn env() -> StepEnv {
    StepEnv { host: Arc::new(Pool), ..lone::env() }
}

/// Nodes of these kinds; `0 -> 1` in `edges` means that 1 needs 0.
fn plan(kinds: &[Kind], edges: &[(usize, usize)]) -> Arc<plan::Plan> {
    let node = |(i, kind): (usize, &Kind)| Node {
        kind: *kind,
        n_inputs: edges.iter().filter(|(_, to)| *to == i).count(),
        readers: edges.iter().filter(|(from, _)| *from == i).map(|(_, to)| *to).collect(),
    };
    Arc::new(kinds.iter().enumerate().map(node).collect())
}

/// Tasks side by side, then one that needs them all.
fn fan() -> Arc<plan::Plan> {
    use Kind::*;
    plan(&[Short, Task, Task, Task, Short], &[(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)])
}

#[test]
fn tasks_on_two_threads() {
    check(4000, || run(&fan(), &env(), 2).unwrap());
}

#[test]
fn tasks_on_three_threads() {
    check(4000, || run(&fan(), &env(), 3).unwrap());
}

/// Results that come one after the other, each with more work: threads linger, leave and come back.
#[test]
fn chains_of_tasks() {
    use Kind::*;
    let edges = [(0, 1), (1, 2), (3, 4), (4, 5), (2, 6), (5, 6), (6, 7), (6, 8)];
    check(4000, move || {
        let plan = plan(&[Task, Short, Task, Task, Task, Short, Short, Task, Task], &edges);
        run(&plan, &env(), 2).unwrap();
    });
}

/// Kernels that wait come back from other threads, beside tasks and after them.
#[test]
fn waits_beside_tasks() {
    use Kind::*;
    check(4000, || {
        let plan = plan(&[Wait, Task, Task, Wait, Short], &[(0, 2), (1, 3), (2, 4), (3, 4)]);
        run(&plan, &env(), 2).unwrap();
    });
}

/// With nothing but waits the caller sleeps, and is woken by each.
#[test]
fn nothing_but_waits() {
    use Kind::*;
    check(4000, || {
        let plan = plan(&[Wait, Wait, Short, Wait], &[(0, 2), (1, 2), (2, 3)]);
        run(&plan, &env(), 1).unwrap();
    });
}

/// A run that is called off ends, with that error or with its results. What waits for ever comes back.
#[test]
fn a_run_that_is_called_off_ends() {
    use Kind::*;
    check(4000, || {
        let plan = plan(&[Task, Forever, Task, Wait, Short], &[(0, 2), (2, 4), (3, 4)]);
        let env = env();
        let cancel = env.cancel.clone();
        let other = shuttle::thread::spawn(move || cancel.cancel(Error::new(Code::Cancelled, "called off")));
        let error = run(&plan, &env, 2).unwrap_err();
        assert_eq!(error.code(), Code::Cancelled);
        other.join().unwrap();
    });
}

/// The run ends with the error of a task. Others that run are waited for, and what waits is called off.
#[test]
fn a_task_that_fails_ends_the_run() {
    use Kind::*;
    check(4000, || {
        let plan = plan(&[Fails, Task, Forever, Task, Short], &[(1, 3), (0, 4), (3, 4)]);
        let error = run(&plan, &env(), 3).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "the first error stays");
    });
}
