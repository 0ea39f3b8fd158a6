//! Pass 5: which nodes learn that a node has run, and how many arrivals each of them waits for.
//!
//! Afterwards the pending counts of frames are those of an iteration in which nothing has arrived: each
//! node's count is the number of edges that lead to it.

use super::*;
use crate::plan::To;
use millstream_graph::op::Role;

/// The edges by the node that they start from.
pub(super) struct Drawn {
    /// Edges of the whole node.
    pub whole: Dense<PlanNode, Vec<Edge>>,
    /// Edges of one port, which only a `Switch` keeps apart.
    pub ports: Dense<SwitchId, [Vec<Edge>; 2]>,
    /// Weak edges of nodes whose values go elsewhere (into a loop, into its next iteration). These edges stay
    /// in the node's own iteration.
    pub beside: BTreeMap<PlanNode, Vec<Edge>>,
}

impl Layout<'_> {
    pub(super) fn draw_arrivals(&mut self) -> Result<Drawn> {
        let mut drawn = Drawn {
            whole: Dense::filled(Vec::new(), self.nodes.len()),
            ports: Dense::filled([Vec::new(), Vec::new()], self.switches.len()),
            beside: BTreeMap::new(),
        };
        for here in self.drafts.ids() {
            match self.nodes[here].kind {
                Kind::Merge(merge) => self.draw_to_merge(&mut drawn, here, merge)?,
                _ => self.draw_to_node(&mut drawn, here)?,
            }
        }
        Ok(drawn)
    }

    fn draw_to_node(&mut self, drawn: &mut Drawn, here: PlanNode) -> Result<()> {
        let draft = &self.drafts[here];
        let (n_waits, count) = (draft.n_waits(), self.counts[here]);
        let is_trigger = draft.node().is_some_and(|n| self.builder.node(n).role() == Role::ControlTrigger);
        let swallows = n_waits == 1 && matches!(self.nodes[here].kind, Kind::Exit | Kind::NextIteration(_));
        let to = match (is_trigger, swallows) {
            (true, _) => To::Weak,
            (_, true) => To::LiveOnly,
            _ => To::Node,
        };
        let edge = Edge::to_count(here, count, to)?;
        for source in draft.sources() {
            drawn.add(&self.nodes, self.maker(source), Some(source.index), edge);
        }
        for control in &draft.controls {
            drawn.add(&self.nodes, self.builder.position[control.node], control.port, edge);
        }
        for &from in &draft.weak {
            drawn.add_weak(&self.nodes, from, Edge::to_count(here, count, To::Weak)?);
        }
        self.frames[self.homes[here]].pending[count] = n_waits as u32;
        Ok(())
    }

    fn draw_to_merge(&mut self, drawn: &mut Drawn, here: PlanNode, merge: MergeId) -> Result<()> {
        let draft = &self.drafts[here];
        for (i, value) in draft.inputs.iter().enumerate() {
            let Value::Source(source) = value else { continue };
            let arrival = self.merge_inputs.push((merge, i as u32));
            let edge = Edge::to_merge(here, arrival)?;
            drawn.add(&self.nodes, self.maker(*source), Some(source.index), edge);
        }
        let edge = Edge::to_merge_control(here, merge)?;
        for control in &draft.controls {
            drawn.add(&self.nodes, self.builder.position[control.node], control.port, edge);
        }
        for &from in &draft.weak {
            drawn.add_weak(&self.nodes, from, edge);
        }
        Ok(())
    }
}

impl Drawn {
    /// Adds an edge from a whole node, or from one of its ports.
    fn add(&mut self, nodes: &Dense<PlanNode, Node>, from: PlanNode, port: Option<u32>, edge: Edge) {
        match (nodes[from].kind, port) {
            (Kind::Switch(switch), Some(port)) => self.ports[switch][usize::from(port != 0)].push(edge),
            _ => self.whole[from].push(edge),
        }
    }

    /// Adds an edge that only says that the node has run.
    fn add_weak(&mut self, nodes: &Dense<PlanNode, Node>, from: PlanNode, edge: Edge) {
        match nodes[from].kind {
            Kind::Enter(..) | Kind::EnterConstant(..) | Kind::NextIteration(_) => {
                self.beside.entry(from).or_default().push(edge);
            }
            _ => self.whole[from].push(edge),
        }
    }
}
