//! Passes 4 and 6: merges of loop variables that the machine need not see.
//!
//! A merge is bypassed if its Enter and its NextIteration write into its own slot, its index is not read, and
//! it has no control inputs: nothing is left for it to do. Those two then have its edges instead of one to
//! it. They tell the merge's state that it was reached, so that a run that is stuck does not name it.

use super::*;
use crate::plan::{Pass, Place, To};

impl Layout<'_> {
    pub(super) fn mark_bypassed(&mut self) {
        let options = self.builder.options;
        if options.keep_all || !options.passes.has(Pass::Bypass) {
            return;
        }
        for (node, home) in self.nodes.iter().zip(&self.homes) {
            let Kind::Merge(merge) = node.kind else { continue };
            let in_place = |input: &Input| input.place() == Place::Slot(node.slot) && !input.deref();
            let index_unread = node.outputs.of(&self.slots).get(1).is_none_or(|slot| *slot == SlotId::NONE);
            let state = &mut self.frames[*home].merges[merge];
            state.bypassed = state.is_loop
                && state.controls_left == 0
                && index_unread
                && node.slot != SlotId::NONE
                && node.inputs.of(&self.inputs).iter().all(in_place);
        }
    }

    pub(super) fn bypass(&mut self, drawn: &mut Drawn) {
        for from in self.nodes.ids() {
            let (Kind::Enter(..) | Kind::NextIteration(_)) = self.nodes[from].kind else { continue };
            let Some(at) = drawn.whole[from].iter().position(|edge| edge.to() == To::Merge) else { continue };
            let to = drawn.whole[from][at].node;
            let Kind::Merge(merge) = self.nodes[to].kind else { continue };
            if !self.frames[self.homes[to]].merges[merge].bypassed {
                continue;
            }
            if let Kind::Enter(_, settles) | Kind::NextIteration(settles) = &mut self.nodes[from].kind {
                *settles = merge;
            }
            let onward = drawn.whole[to].clone();
            drawn.whole[from].remove(at);
            drawn.whole[from].extend(onward);
        }
    }
}
