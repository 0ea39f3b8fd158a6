//! What a node does when all its tokens are in.

use super::run::Run;
use super::{Tag, Value};
use crate::errors::{did_not_compute, no_output, predicate};
use crate::plan::Body;
use crate::variable::read_reference;
use millstream_graph::Index;
use millstream_graph::op::{Completion, KernelCx, Role};
use millstream_tensor::{Error, Result, Tensor};

impl Run<'_> {
    /// A merge runs, with the input that it took.
    pub(super) fn run_merge(&mut self, n: Index, tag: &Tag, chosen: Option<(usize, Value)>) -> Result<()> {
        match chosen {
            Some((i, Some(value))) => {
                let value = match self.reference.program.reads_reference(n, i) {
                    true => read_reference(&value)?,
                    false => value,
                };
                self.give(n, tag, &[Some(value), Some(Tensor::scalar(i as i32))]);
            }
            _ => self.give_dead(n, tag),
        }
        self.ran(n, tag);
        Ok(())
    }

    /// Whether the node's kernel is one that may wait.
    pub(super) fn waits(&self, n: Index) -> bool {
        self.reference.kernels[n].as_ref().is_some_and(|k| matches!(k.body, Body::Waits(_)))
    }

    pub(super) fn run_dead(&mut self, n: Index, tag: &Tag) {
        match self.reference.program.node(n).role() {
            Role::Enter => self.enter(n, tag, None),
            // The loop decides about its Exits when it is over; a dead NextIteration is what ends it.
            Role::Exit | Role::NextIteration => {}
            _ => self.give_dead(n, tag),
        }
        if self.waits(n) {
            self.ran(n, tag);
        }
    }

    pub(super) fn run_live(&mut self, n: Index, tag: &Tag, mut inputs: Vec<Tensor>) -> Result<()> {
        let reference = self.reference;
        let node = reference.program.node(n);
        for (i, input) in inputs.iter_mut().enumerate() {
            if reference.program.reads_reference(n, i) {
                *input = read_reference(input)?;
            }
        }
        match node.role() {
            Role::Const => {
                let Some(info) = node.info() else { return Ok(()) };
                let value = info.attrs.tensor("value")?.clone();
                self.give(n, tag, &[Some(value)]);
            }
            Role::Identity | Role::LoopCond => self.give(n, tag, &[inputs.pop()]),
            Role::NoOp | Role::ControlTrigger | Role::Placeholder | Role::Merge => self.give(n, tag, &[]),
            Role::Switch => {
                let pred = inputs.pop().ok_or_else(|| Error::internal("a Switch without inputs"))?;
                let taken = predicate(&pred)?;
                let data = inputs.pop();
                let outputs = if taken { [None, data] } else { [data, None] };
                self.give(n, tag, &outputs);
            }
            Role::Enter => self.enter(n, tag, inputs.pop()),
            Role::NextIteration => {
                if let Some(value) = inputs.pop() {
                    self.next_iteration(n, tag, value);
                }
            }
            Role::Exit => self.exit(n, tag, inputs.pop())?,
            Role::Compute => self.compute(n, tag, inputs)?,
        }
        Ok(())
    }

    fn compute(&mut self, n: Index, tag: &Tag, mut inputs: Vec<Tensor>) -> Result<()> {
        let reference = self.reference;
        let kernel = reference.kernels[n]
            .as_ref()
            .ok_or_else(|| Error::internal("a node that computes has no kernel"))?;
        let mut outputs = vec![None; kernel.info.output_types.len()];
        let mut cx = KernelCx::new(&kernel.info, self.env, &mut inputs, &mut outputs);
        if !kernel.run(&mut cx)? {
            let Body::Waits(waits) = kernel.body else {
                return Err(did_not_compute());
            };
            self.waiting += 1;
            if let Some(iteration) = self.iterations.get_mut(tag) {
                iteration.outstanding += 1;
            }
            let (sender, tag) = (self.mail.0.clone(), tag.clone());
            let activity = self.env.activity.clone();
            let completion = Completion::new(move |rest| {
                activity.wake();
                // The receiver is gone once the run has failed.
                let _ = sender.send((n, tag, rest));
            });
            (waits.start)(&mut cx, completion);
            return Ok(());
        }
        let readers = &reference.readers[n];
        for (i, output) in outputs.iter().enumerate() {
            if output.is_none() && readers.data.iter().any(|(port, ..)| *port as usize == i) {
                return Err(no_output(i));
            }
        }
        // Not `give`: the node did compute, whichever outputs it left out.
        self.pass_on(n, tag, &outputs, false);
        Ok(())
    }
}
