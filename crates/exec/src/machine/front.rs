//! The start of a run whose front is code: see `plan/layout/front.rs`.

use super::Machine;
use crate::ids::{IterationId, SlotId};
use crate::plan::{FrontPlan, Plan};
use crate::region::{Exit, Registers};
use millstream_graph::op::StepEnv;
use millstream_tensor::Tensor;
use smallvec::SmallVec;

impl Machine {
    /// Starts a run that has all its feeds.
    pub(crate) fn start_with(&mut self, plan: &Plan, env: &StepEnv, feeds: impl IntoIterator<Item = Tensor>) {
        let Some(front) = plan.front.as_deref().filter(|_| self.trace.is_none()) else {
            let again = self.begin(plan, env);
            let feeds = feeds.into_iter().enumerate();
            if self.trace.is_none() && self.start_straight(plan, again) {
                return feeds.for_each(|(i, value)| self.feed_straight(plan, i, value));
            }
            self.start_by_tokens(if again { &plan.start_again } else { &plan.start });
            return feeds.for_each(|(i, value)| self.feed(plan, i, value));
        };
        let feeds: SmallVec<[Tensor; 4]> = feeds.into_iter().collect();
        let results = self.run_front(front, env, &feeds);
        match results {
            Some(_) => self.start_at(plan, env, [&front.start, &front.start_again]),
            None => self.start(plan, env),
        }
        feeds.into_iter().enumerate().for_each(|(i, value)| self.feed(plan, i, value));
        let Some(results) = results else { return };
        let it = &mut self.iterations[IterationId::ROOT];
        for (slot, value) in front.outputs.iter().zip(results) {
            it.put(*slot, value);
        }
        for &(slot, n) in &front.reads {
            it.release_many(slot, n);
        }
    }

    /// The values that the front gives; `None` where the machine has to compute them.
    fn run_front(
        &mut self,
        front: &FrontPlan,
        env: &StepEnv,
        feeds: &[Tensor],
    ) -> Option<SmallVec<[Tensor; 4]>> {
        let code = &front.region.code;
        let mut registers = self.front.take().unwrap_or_else(|| Registers::new(code));
        (registers.at, registers.iterations) = (0, 0);
        let suits = code.inputs.iter().zip(&front.feeds).all(|(binding, feed)| {
            feeds.get(*feed).is_some_and(|value| {
                value.dtype() == binding.dtype
                    && *value.shape() == binding.shape
                    && value.write_words(&mut registers.words[binding.words()])
            })
        });
        let done = suits && front.region.run_straight(&mut registers, env) == Exit::Done;
        let results = code.outputs.iter().map(|binding| {
            Tensor::of_words(binding.dtype, binding.shape.clone(), &registers.words[binding.words()]).ok()
        });
        let results = if done { results.collect() } else { None };
        self.front = Some(registers);
        results
    }
}

impl super::iteration::Iteration {
    /// `n` readers need a value no more.
    fn release_many(&mut self, slot: SlotId, n: u32) {
        let value = &mut self.values[slot];
        if value.as_scalar().is_none() {
            let uses = &mut self.uses[slot];
            *uses -= n;
            if *uses == 0 {
                *value = Tensor::scalar(false);
            }
        }
    }
}
