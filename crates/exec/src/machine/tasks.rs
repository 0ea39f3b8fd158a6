//! Kernel runs that somebody else does: handed out, and come back.

use super::Machine;
use super::turn::no_output;
use crate::plan::{NO_SLOT, Plan};
use millstream_graph::op::{KernelCx, Rest, StepEnv};
use millstream_tensor::{Code, Result, Tensor};
use smallvec::SmallVec;

/// A kernel run that somebody else does.
pub(crate) struct Task {
    pub(super) node: u32,
    pub(super) at: u32,
    pub(super) kernel: u32,
    pub(super) inputs: Vec<Tensor>,
}

/// A kernel run that somebody else did.
pub(crate) struct Done {
    pub(super) node: u32,
    pub(super) at: u32,
    pub(super) outputs: Came,
}

/// What came of it.
pub(super) enum Came {
    /// The outputs of a task.
    Task(Result<SmallVec<[Option<Tensor>; 2]>>),
    /// The end of a wait.
    Rest(Rest),
}

impl Task {
    /// Runs the kernel.
    pub(crate) fn run(mut self, plan: &Plan, env: &StepEnv) -> Done {
        let kernel = &plan.kernels[self.kernel as usize];
        let mut outputs: SmallVec<[Option<Tensor>; 2]> =
            SmallVec::from_elem(None, kernel.info.output_types.len());
        let mut cx = KernelCx::new(&kernel.info, env, &mut self.inputs, &mut outputs);
        let result = kernel.run(&mut cx);
        Done { node: self.node, at: self.at, outputs: Came::Task(result.map(|_| outputs)) }
    }
}

impl Machine {
    /// The task to begin next: one of a newest iteration, since all that follow wait for what it passes on, else the oldest.
    pub(crate) fn next_task(&mut self) -> Option<Task> {
        const LOOK: usize = 16;
        let is_newest = |task: &Task| {
            let it = &self.iterations[task.at as usize];
            it.number + 1 == self.frames[it.frame as usize].next
        };
        let from = self.tasks.len().saturating_sub(LOOK);
        let newest = self.tasks.iter().skip(from).position(is_newest).map(|i| from + i);
        self.tasks.remove(newest.unwrap_or(0))
    }

    /// What somebody else did arrives.
    pub(crate) fn done(&mut self, plan: &Plan, done: Done) {
        let Done { node: n, at, outputs } = done;
        match &outputs {
            Came::Task(_) => self.running -= 1,
            Came::Rest(_) => self.waiting -= 1,
        }
        if self.is_late(plan, n, at) {
            return;
        }
        if let Some(error) = &self.error {
            // Who waited, and is called off with all the rest, has the better word of it: `stop` looks whether it is to be kept.
            if error.code() == Code::Cancelled
                && let Came::Rest(rest) = outputs
                && let Err(error) = rest()
            {
                self.fail(plan, n, at, error);
            }
            return;
        }
        let outputs = match outputs {
            Came::Task(outputs) => outputs,
            Came::Rest(rest) => rest().map(|outputs| outputs.into_iter().map(Some).collect()),
        };
        let node = &plan.nodes[n as usize];
        let result = outputs.and_then(|mut outputs| {
            for (i, &slot) in
                plan.slots(node, outputs.len()).iter().enumerate().filter(|(_, s)| **s != NO_SLOT)
            {
                let value = outputs.get_mut(i).and_then(Option::take).ok_or_else(|| no_output(i))?;
                self.put(at, slot, value);
            }
            Ok(())
        });
        match result {
            Ok(()) => {
                self.traced(plan, n, at, false);
                self.arrive_all(plan, at, node.edges, false);
                self.finish(plan, at);
            }
            Err(error) => self.fail(plan, n, at, error),
        }
    }
}
