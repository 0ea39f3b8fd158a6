//! Which nodes give handles that last from run to run, and how a run starts without them.

use super::{Builder, Draft, Edge, Kind, Node, Start, Value};
use millstream_graph::op::Effect;
use millstream_tensor::DType;

impl Builder<'_> {
    /// The nodes of the root that give handles which stay the same while no name is forgotten: what opens named things, and what makes handles
    /// of these and of constants alone.
    pub(super) fn lasting(
        &self,
        drafts: &[Draft],
        nodes: &[Node],
        edges: &[Edge],
        homes: &[u32],
    ) -> Vec<bool> {
        let mut lasts = vec![false; drafts.len()];
        if self.options.keep_all || self.probes.is_some() {
            return lasts;
        }
        for (d, (draft, node)) in drafts.iter().zip(nodes).enumerate() {
            let gives_handles = draft.node().and_then(|n| self.node(n).info()).is_some_and(|info| {
                let kernel = &info.op.kernel;
                let one = info.output_types.len() == 1;
                kernel.opens
                    || one && kernel.effect == Effect::Pure && info.output_types[0].dtype == DType::Resource
            });
            let waits_for_these = draft.controls.is_empty()
                && draft.weak.is_empty()
                && draft.inputs.iter().all(|v| match v {
                    Value::Constant(_) => true,
                    Value::Source(s) => lasts[self.position[s.node as usize] as usize],
                });
            let plain =
                edges[node.edges.0 as usize..node.edges.1 as usize].iter().all(|e| e.plain().is_some());
            let is_kernel = matches!(node.kind, Kind::Kernel(_));
            lasts[d] = is_kernel && homes[d] == 0 && gives_handles && waits_for_these && plain;
        }
        lasts
    }
}

impl Start {
    /// How a run starts that finds the values of these nodes in their slots.
    pub(super) fn without(&self, lasting: &[bool], nodes: &[Node], edges: &[Edge]) -> Start {
        let mut start = self.clone();
        start.ready.retain(|&node| !lasting[node as usize]);
        for (node, _) in nodes.iter().zip(lasting).filter(|(_, lasts)| **lasts) {
            let (from, to) = node.edges;
            for edge in &edges[from as usize..to as usize] {
                let pending = &mut start.pending[edge.local()];
                *pending -= 1;
                if *pending == 0 && !lasting[edge.node as usize] {
                    start.ready.push(edge.node);
                }
            }
        }
        start
    }
}
