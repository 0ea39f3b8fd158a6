//! The error of a run that cannot go on.

use super::instances::Instance;
use super::{Fetched, Machine};
use crate::errors::{never_computed, stuck};
use crate::ids::IterationId;
use crate::plan::{Kind, MergeState, Plan};
use millstream_graph::FrameId;
use millstream_tensor::Error;

impl Machine {
    /// The error if something is stuck, in a run where nothing runs and nothing will be woken.
    pub(crate) fn stuck(&self, plan: &Plan) -> Option<Error> {
        let root = &self.iterations[IterationId::ROOT];
        let is_pending = |fetched: &Fetched| matches!(fetched, Fetched::Pending);
        if root.children.is_empty() && !self.results.iter().any(is_pending) {
            return None;
        }
        let mut error = stuck();
        for &(_, inside) in root.children.iter().take(4) {
            let instance = &self.instances[inside];
            let frame = &plan.frames[instance.of];
            error = error.note(format!(
                "loop `{}`: {} iterations alive, {} of {} Enters missing, {} tokens parked",
                frame.name,
                instance.iterations.len(),
                instance.pending_enters,
                frame.n_enters,
                instance.parked.len()
            ));
            error = self.note_merges(plan, instance, error);
        }
        for (n, node) in plan.nodes_of(FrameId::ROOT) {
            if let Kind::Fetch(fetch) = node.kind
                && self.results.get(fetch).is_some_and(is_pending)
            {
                error = error.note(never_computed(&plan.labels[n].name));
            }
        }
        Some(error.with_help(
            "check that every loop variable's initial value is computed, and that every Merge has an input that can arrive",
        ))
    }

    /// Notes the merges that wait, of the oldest iterations.
    fn note_merges(&self, plan: &Plan, instance: &Instance, mut error: Error) -> Error {
        for &at in instance.iterations.iter().take(2) {
            let it = &self.iterations[at];
            let waits = plan.nodes_of(instance.of).filter(|(_, node)| match node.kind {
                Kind::Merge(merge) => it.merges[merge].chosen == MergeState::NONE,
                _ => false,
            });
            for (n, _) in waits.take(3) {
                let name = &plan.labels[n].name;
                error = error.note(format!("iteration {}: the Merge `{name}` has got no input", it.number));
            }
        }
        error
    }
}
