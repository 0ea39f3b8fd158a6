//! Kernels that have to wait: kept until the run has somebody whom their ends can be told to.

use super::Machine;
use super::tasks::{Came, Done};
use super::turn::Turn;
use crate::plan::{Body, KernelPlan, Plan};
use millstream_graph::op::{Completion, KernelCx, StepEnv};
use millstream_tensor::{Error, Result, Tensor};
use std::sync::Arc;

/// Where waiting kernels deliver what they waited for.
pub(crate) trait Mailbox: Send + Sync {
    /// Takes it, and sees that somebody drives the machine on.
    fn deliver(&self, done: Done);
}

/// A kernel that could not compute at once and has yet to begin its wait.
pub(super) struct Wait {
    node: u32,
    at: u32,
    kernel: u32,
    inputs: Vec<Tensor>,
}

impl Machine {
    /// The kernel, whose inputs are gathered, has to wait.
    #[cold]
    pub(super) fn park(&mut self, n: u32, at: u32, kernel: u32, k: &KernelPlan) -> Result<Turn> {
        if !matches!(k.body, Body::Waits(_)) {
            return Err(Error::internal("a kernel that never waits did not compute"));
        }
        self.waits.push(Wait { node: n, at, kernel, inputs: std::mem::take(&mut self.inputs) });
        Ok(Turn::Elsewhere)
    }

    /// Whether a kernel has yet to begin its wait.
    pub(crate) fn has_waits(&self) -> bool {
        !self.waits.is_empty()
    }

    /// Begins the waits; they end through the mailbox, some of them at once.
    pub(crate) fn start_waits(&mut self, plan: &Plan, env: &StepEnv, mailbox: &Arc<dyn Mailbox>) {
        for Wait { node, at, kernel, mut inputs } in std::mem::take(&mut self.waits) {
            let k = &plan.kernels[kernel as usize];
            let Body::Waits(waits) = k.body else { continue };
            self.waiting += 1;
            let mailbox = mailbox.clone();
            let completion =
                Completion::new(move |rest| mailbox.deliver(Done { node, at, outputs: Came::Rest(rest) }));
            let mut cx = KernelCx::new(&k.info, env, &mut inputs, &mut []);
            // A panic drops the completion, which fails the step with the node's name.
            let start = std::panic::AssertUnwindSafe(|| (waits.start)(&mut cx, completion));
            let _ = std::panic::catch_unwind(start);
        }
    }
}
