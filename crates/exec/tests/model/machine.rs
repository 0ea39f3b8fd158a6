//! A small machine: nodes without values, each of which runs once all its inputs are there.

use crate::plan::Plan;
use crate::sync::{AtomicBool, AtomicUsize, Ordering::*};
use millstream_graph::op::StepEnv;
use millstream_tensor::{Error, Result, invalid};
use shuttle::thread;
use std::collections::VecDeque;
use std::sync::Arc;

/// What a node does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Runs in the machine.
    Short,
    /// Runs on any thread.
    Task,
    /// A task with an error.
    Fails,
    /// Waits for another thread.
    Wait,
    /// Waits until the run is called off.
    Forever,
}

pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) n_inputs: usize,
    pub(crate) readers: Vec<usize>,
}

pub(crate) trait Mailbox: Send + Sync {
    fn deliver(&self, done: Done);
}

/// The end of a task or of a wait.
pub(crate) struct Done {
    node: usize,
    is_task: bool,
    result: Result<()>,
}

/// Counts the tasks that run at a time.
#[derive(Default)]
struct Counts {
    now: AtomicUsize,
    most: Arc<AtomicUsize>,
}

pub(crate) struct Task {
    node: usize,
    counts: Arc<Counts>,
}

impl Task {
    pub(crate) fn run(self, plan: &Plan, _: &StepEnv) -> Done {
        let now = self.counts.now.fetch_add(1, SeqCst) + 1;
        self.counts.most.fetch_max(now, SeqCst);
        thread::yield_now();
        let result = match plan[self.node].kind {
            Kind::Fails => Err(invalid!("a task failed")),
            _ => Ok(()),
        };
        self.counts.now.fetch_sub(1, SeqCst);
        Done { node: self.node, is_task: true, result }
    }
}

#[derive(Default)]
pub(crate) struct Machine {
    pub(crate) error: Option<Error>,
    pub(crate) running: usize,
    waiting: usize,
    pub(crate) tasks: VecDeque<Task>,
    pub(crate) most_running: Arc<AtomicUsize>,
    ready: VecDeque<usize>,
    waits: Vec<usize>,
    left: Vec<usize>,
    runs: Vec<usize>,
    counts: Arc<Counts>,
}

impl Machine {
    pub(crate) fn empty() -> Machine {
        Machine::default()
    }

    pub(crate) fn new(plan: &Plan) -> Machine {
        let most = Arc::<AtomicUsize>::default();
        Machine {
            ready: (0..plan.len()).filter(|i| plan[*i].n_inputs == 0).collect(),
            left: plan.iter().map(|node| node.n_inputs).collect(),
            runs: vec![0; plan.len()],
            counts: Arc::new(Counts { now: AtomicUsize::new(0), most: most.clone() }),
            most_running: most,
            ..Machine::default()
        }
    }

    pub(crate) fn n_waiting(&self) -> usize {
        self.waiting
    }

    pub(crate) fn called_off(&self, _: &Plan, error: Error) -> Error {
        error
    }

    pub(crate) fn has_run_all_once(&self, plan: &Plan) -> bool {
        self.runs == vec![1; plan.len()]
    }

    /// Runs `turn` nodes at most; returns whether more are ready.
    pub(crate) fn drive(&mut self, plan: &Plan, _: &StepEnv, turn: usize) -> bool {
        for _ in 0..turn {
            let Some(node) = self.ready.pop_front() else { return false };
            match plan[node].kind {
                Kind::Short => self.ran(plan, node),
                Kind::Task | Kind::Fails => {
                    self.tasks.push_back(Task { node, counts: self.counts.clone() });
                }
                Kind::Wait | Kind::Forever => self.waits.push(node),
            }
        }
        !self.ready.is_empty()
    }

    fn ran(&mut self, plan: &Plan, node: usize) {
        self.runs[node] += 1;
        for reader in &plan[node].readers {
            self.left[*reader] -= 1;
            if self.left[*reader] == 0 {
                self.ready.push_back(*reader);
            }
        }
    }

    pub(crate) fn done(&mut self, plan: &Plan, _: &StepEnv, done: Done) {
        *(if done.is_task { &mut self.running } else { &mut self.waiting }) -= 1;
        match done.result {
            Ok(()) if self.error.is_none() => self.ran(plan, done.node),
            Ok(()) => {}
            Err(error) => self.stop(error),
        }
    }

    pub(crate) fn stop(&mut self, error: Error) {
        self.error.get_or_insert(error);
        self.ready.clear();
        self.tasks.clear();
        self.waits.clear();
    }

    pub(crate) fn next_task(&mut self) -> Option<Task> {
        self.tasks.pop_front()
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.tasks.is_empty() && self.waits.is_empty()
    }

    pub(crate) fn has_found(&self) -> bool {
        false
    }

    pub(crate) fn has_waits(&self) -> bool {
        !self.waits.is_empty()
    }

    /// Each wait ends on a thread of its own: by itself, or when the run is called off.
    pub(crate) fn start_waits(&mut self, plan: &Plan, env: &StepEnv, mailbox: &Arc<dyn Mailbox>) {
        for node in self.waits.drain(..) {
            self.waiting += 1;
            let (mailbox, over) = (mailbox.clone(), Arc::new(AtomicBool::new(false)));
            let (others, is_over) = (mailbox.clone(), over.clone());
            let listening = env.cancel.on_cancel(move |error| {
                if !is_over.swap(true, AcqRel) {
                    others.deliver(Done { node, is_task: false, result: Err(error.clone()) });
                }
            });
            let comes = plan[node].kind == Kind::Wait;
            thread::spawn(move || {
                while !comes && !over.load(Acquire) {
                    thread::yield_now();
                }
                if !over.swap(true, AcqRel) {
                    mailbox.deliver(Done { node, is_task: false, result: Ok(()) });
                }
                drop(listening);
            });
        }
    }
}
