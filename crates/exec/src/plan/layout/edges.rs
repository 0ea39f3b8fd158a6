//! Passes 7 and 8: the edges, one node's after another's, and what the invariants of a frame make of its
//! initial state.

use super::*;
use crate::plan::To;

impl Layout<'_> {
    /// Afterwards every node, and every port of a Switch, has its edges. Of a port's edges those that a dead
    /// token does not travel are last.
    pub(super) fn attach(&mut self, drawn: Drawn) {
        let Drawn { whole, mut ports, beside } = drawn;
        for (node, whole) in self.nodes.iter_mut().zip(whole) {
            if let [edge] = *whole
                && edge.plain().is_some()
            {
                node.only = edge;
            }
            if let Kind::Switch(which) = node.kind {
                let switch = &mut self.switches[which];
                let slots = node.outputs.of(&self.slots);
                switch.slots = [slots[0], slots[1]];
                for (port, mut edges) in std::mem::take(&mut ports[which]).into_iter().enumerate() {
                    edges.sort_by_key(|edge| edge.to() == To::LiveOnly);
                    let n_dead = edges.iter().filter(|edge| edge.to() != To::LiveOnly).count();
                    let all = Span::append(&mut self.edges, edges);
                    switch.edges[port] = all;
                    switch.dead[port] = Span { end: EdgeId::new(all.start.index() + n_dead), ..all };
                }
            }
            node.edges = Span::append(&mut self.edges, whole);
        }
        let beside = beside.into_iter().map(|(node, edges)| (node, Span::append(&mut self.edges, edges)));
        self.beside = beside.collect();
    }

    /// Afterwards frames know the initial state of an iteration that starts when all invariants have arrived.
    pub(super) fn count_invariants(&mut self) {
        for frame in &mut self.frames {
            frame.pending_with_invariants = frame.pending.clone();
            for &enter in &frame.invariants {
                for e in self.nodes[enter].edges.ids() {
                    let edge = self.edges[e];
                    if matches!(edge.to(), To::Merge | To::MergeControl) {
                        frame.invariant_merges.push(e);
                        continue;
                    }
                    let pending = &mut frame.pending_with_invariants[edge.count()];
                    *pending -= 1;
                    if *pending == 0 {
                        frame.ready_with_invariants.push(edge.node);
                    }
                }
            }
        }
    }
}
