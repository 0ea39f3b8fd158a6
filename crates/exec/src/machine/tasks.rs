//! Kernel runs that another thread does: handed out, and come back.

use super::Machine;
use crate::errors::no_output;
use crate::ids::{IterationId, KernelId, PlanNode, SlotId};
use crate::plan::Plan;
use millstream_graph::Entity;
use millstream_graph::op::{KernelCx, Rest, StepEnv};
use millstream_tensor::{Code, Result, Tensor};
use smallvec::SmallVec;

/// A kernel run that another thread may do.
pub(crate) struct Task {
    pub(super) node: PlanNode,
    pub(super) at: IterationId,
    pub(super) kernel: KernelId,
    pub(super) inputs: Vec<Tensor>,
}

/// A kernel run that ended elsewhere.
pub(crate) struct Done {
    pub(super) node: PlanNode,
    pub(super) at: IterationId,
    pub(super) outputs: Came,
}

/// The result of a kernel run that ended elsewhere.
pub(super) enum Came {
    /// The outputs of a task.
    Task(Result<SmallVec<[Option<Tensor>; 2]>>),
    /// The end of a wait.
    Rest(Rest),
}

impl Task {
    /// Runs the kernel.
    pub(crate) fn run(mut self, plan: &Plan, env: &StepEnv) -> Done {
        let kernel = &plan.kernels[self.kernel];
        let mut outputs: SmallVec<[Option<Tensor>; 2]> =
            SmallVec::from_elem(None, plan.slots(&plan.nodes[self.node]).len());
        let mut cx = KernelCx::new(&kernel.info, env, &mut self.inputs, &mut outputs);
        let result = kernel.run(&mut cx);
        Done { node: self.node, at: self.at, outputs: Came::Task(result.map(|_| outputs)) }
    }
}

impl Machine {
    /// The task to begin next: one of a newest iteration, since all later iterations wait for its result,
    /// else the oldest task.
    pub(crate) fn next_task(&mut self) -> Option<Task> {
        const LOOK: usize = 16;
        let is_newest = |task: &Task| {
            let it = &self.iterations[task.at];
            it.number + 1 == self.instances[it.instance].next
        };
        let from = self.tasks.len().saturating_sub(LOOK);
        let newest = self.tasks.iter().skip(from).position(is_newest).map(|i| from + i);
        self.tasks.remove(newest.unwrap_or(0))
    }

    /// The result of a kernel run elsewhere arrives.
    pub(crate) fn done(&mut self, plan: &Plan, env: &StepEnv, done: Done) {
        let Done { node: n, at, outputs } = done;
        match &outputs {
            Came::Task(_) => self.running -= 1,
            Came::Rest(_) => _ = self.waiting.remove(&(n, at)),
        }
        if self.is_late(plan, n, at) {
            return;
        }
        if let Some(error) = &self.error {
            // A kernel whose wait was cancelled with the run knows more about it: `stop` decides whether to
            // keep its error. A wait that ended well came too late, and what it got is dropped unused.
            if error.code() == Code::Cancelled
                && let Came::Rest(Rest::Failed(error)) = outputs
            {
                self.fail(plan, n, at, error);
            }
            return;
        }
        let outputs = match outputs {
            Came::Task(outputs) => outputs,
            Came::Rest(rest) => rest.finish().map(|outputs| {
                env.loans.used();
                outputs.into_iter().map(Some).collect()
            }),
        };
        match outputs.and_then(|outputs| self.put_all(plan, n, at, outputs)) {
            Ok(()) => {
                self.traced(plan, n, at, false);
                self.arrive_all(plan, at, plan.nodes[n].edges, false);
                self.finish(plan, at);
            }
            Err(error) => self.fail(plan, n, at, error),
        }
    }

    fn put_all(
        &mut self,
        plan: &Plan,
        n: PlanNode,
        at: IterationId,
        mut outputs: SmallVec<[Option<Tensor>; 2]>,
    ) -> Result<()> {
        let slots = plan.slots(&plan.nodes[n]).iter().enumerate();
        for (i, &slot) in slots.filter(|(_, slot)| **slot != SlotId::NONE) {
            let value = outputs.get_mut(i).and_then(Option::take).ok_or_else(|| no_output(i))?;
            self.put(at, slot, value);
        }
        Ok(())
    }
}
