//! What to say when a run cannot go on.

use super::frames::Frame;
use super::{Fetched, Machine};
use crate::plan::{Kind, MergeState, Plan};
use millstream_tensor::{Error, invalid};

impl Machine {
    /// Nothing runs and nobody will wake anything: says what is stuck, if something is.
    pub(crate) fn stuck(&self, plan: &Plan) -> Option<Error> {
        let root = &self.iterations[0];
        let unfinished = self.results.iter().position(|r| matches!(r, Fetched::Pending));
        if root.children.is_empty() && unfinished.is_none() {
            return None;
        }
        let mut error =
            invalid!("the run cannot go on: no node is ready, none is running, and not all is done");
        for &(_, inside) in root.children.iter().take(4) {
            let frame = &self.frames[inside as usize];
            let of = &plan.frames[frame.of as usize];
            error = error.note(format!(
                "loop `{}`: {} iterations alive, {} of {} Enters missing, {} tokens parked",
                of.name,
                frame.iterations.len(),
                frame.pending_enters,
                of.n_enters,
                frame.parked.len()
            ));
            error = self.waiting_nodes(plan, frame, error);
        }
        for (n, node) in plan.nodes_of(0) {
            if let Kind::Fetch(k) = node.kind
                && matches!(self.results.get(k as usize), Some(Fetched::Pending))
            {
                error = error.note(format!("`{}` was fetched and never computed", plan.labels[n].name));
            }
        }
        Some(error.with_help(
            "every value that enters a loop must reach it, and every merge needs an input that comes",
        ))
    }

    fn waiting_nodes(&self, plan: &Plan, frame: &Frame, mut error: Error) -> Error {
        for &at in frame.iterations.iter().take(2) {
            let it = &self.iterations[at as usize];
            let mut named = 0;
            for (n, node) in plan.nodes_of(frame.of) {
                let merge = match node.kind {
                    Kind::Merge(m) => it.merges[m as usize],
                    _ => continue,
                };
                if merge.chosen == MergeState::NONE && named < 3 {
                    named += 1;
                    error = error.note(format!(
                        "iteration {}: the Merge `{}` has got no input",
                        it.number, plan.labels[n].name
                    ));
                }
            }
        }
        error
    }
}
