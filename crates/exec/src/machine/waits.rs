//! Kernels that have to wait. They are kept until the run has a mailbox that the ends of their waits can be
//! told to.

use super::Machine;
use super::tasks::{Came, Done};
use super::turn::Turn;
use crate::errors::did_not_compute;
use crate::ids::{IterationId, KernelId, PlanNode};
use crate::plan::{Body, KernelPlan, Plan};
use millstream_graph::op::{Completion, KernelCx, StepEnv};
use millstream_tensor::{Result, Tensor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Takes the results of kernels that end on another thread.
pub(crate) trait Mailbox: Send + Sync {
    /// Takes a result, and wakes a thread that drives the machine on.
    fn deliver(&self, done: Done);
}

/// A kernel that could not compute at once and has yet to begin its wait.
pub(super) struct Wait {
    node: PlanNode,
    at: IterationId,
    kernel: KernelId,
    inputs: Vec<Tensor>,
}

impl Machine {
    /// The kernel, whose inputs are gathered, has to wait.
    #[cold]
    pub(super) fn park(
        &mut self,
        node: PlanNode,
        at: IterationId,
        kernel: KernelId,
        k: &KernelPlan,
    ) -> Result<Turn> {
        if !matches!(k.body, Body::Waits(_)) {
            return Err(did_not_compute());
        }
        self.waits.push(Wait { node, at, kernel, inputs: std::mem::take(&mut self.inputs) });
        Ok(Turn::Elsewhere)
    }

    /// Whether a kernel has yet to begin its wait.
    pub(crate) fn has_waits(&self) -> bool {
        !self.waits.is_empty()
    }

    /// Begins the waits. They end through the mailbox, some of them at once.
    pub(crate) fn start_waits(&mut self, plan: &Plan, env: &StepEnv, mailbox: &Arc<dyn Mailbox>) {
        for Wait { node, at, kernel, mut inputs } in std::mem::take(&mut self.waits) {
            let k = &plan.kernels[kernel];
            let Body::Waits(waits) = k.body else { continue };
            self.waiting.insert((node, at));
            let mailbox = mailbox.clone();
            let completion =
                Completion::new(move |rest| mailbox.deliver(Done { node, at, outputs: Came::Rest(rest) }));
            let mut cx = KernelCx::new(&k.info, env, &mut inputs, &mut []);
            // A panic drops the completion, which fails the step with the node's name.
            let _ = catch_unwind(AssertUnwindSafe(|| (waits.start)(&mut cx, completion)));
        }
    }
}
