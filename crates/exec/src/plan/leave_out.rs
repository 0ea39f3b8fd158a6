//! Which nodes are left out, and what their consumers use instead; drafts of the nodes that stay.

use super::builder::{Builder, Control, Draft, Fusion, Left, Origin, Value};
use super::passes::Pass;
use crate::ids::{FetchId, PlanNode, ProbeId};
use crate::probe::Probes;
use millstream_graph::Unique;
use millstream_graph::op::lone::{self, Bounds};
use millstream_graph::op::{Effect, Role};
use millstream_graph::{Dense, Entity, FrameId, Index, Source};
use millstream_tensor::{Result, Tensor};
use smallvec::SmallVec;
use std::collections::HashSet;
use std::time::Instant;

/// The number of nodes between looks at the deadline and the cancellation. All of them together fold for at
/// most [`MOST_FOLDING`].
const LOOK_EVERY: usize = 1024;
/// The most control edges that a node left out may pass on to each consumer.
const MAX_MOVED_CONTROLS: usize = 4;
/// The most elements of a constant that is computed while the plan is made, and of the constants it is
/// computed from.
const MAX_FOLDED: usize = 1 << 14;

impl Builder<'_> {
    /// Fills `left`, in the order of the program: what a node is replaced by depends on its inputs.
    pub(super) fn leave_out(&mut self) -> Result<()> {
        if self.options.keep_all {
            return Ok(());
        }
        let feeds_merge = self.feeds_merge();
        let forward = self.options.passes.has(Pass::Forward);
        let absorbable = self.absorbable();
        let fusible = self.fusible();
        for (i, &n) in self.program.order().iter().enumerate() {
            if i.is_multiple_of(LOOK_EVERY) {
                self.options.check()?;
            }
            let node = self.node(n);
            let Some(info) = node.info() else { continue };
            if feeds_merge[n] && (!node.controls.is_empty() || info.op.role == Role::Const) {
                continue;
            }
            let controls = self.moved_controls(n);
            if controls.len() > MAX_MOVED_CONTROLS {
                continue;
            }
            let value = match info.op.role {
                Role::Const => Some(Value::Constant(self.constant(info.attrs.tensor("value")?.clone())?)),
                Role::Identity | Role::LoopCond if forward && !self.reads_ref(n, 0) => {
                    node.inputs.first().map(|s| self.resolve(*s))
                }
                Role::Compute if node.controls.is_empty() => match self.folded(n, &controls) {
                    Some(value) => Some(Value::Constant(self.constant(value)?)),
                    None => match absorbable.get(&n) {
                        Some(&(reader, run)) => {
                            self.absorbed.insert(reader, (n, run));
                            node.inputs.first().map(|s| self.resolve(*s))
                        }
                        None if self.fuses(fusible.get(&n)) => None,
                        None => continue,
                    },
                },
                _ => continue,
            };
            if matches!(value, Some(Value::Constant(_))) && feeds_merge[n] {
                continue;
            }
            self.left[n] = Some(Left { value, controls });
        }
        Ok(())
    }

    /// Lets a node's reader compute it too, unless that one computes another node already.
    fn fuses(&mut self, fusion: Option<&(Index, Fusion)>) -> bool {
        let Some(&(reader, fusion)) = fusion else { return false };
        let free = !self.fused.contains_key(&reader);
        if free {
            self.fused.insert(reader, fusion);
        }
        free
    }

    /// What the plan's node reads: one that computes another node too reads its other inputs, then what that
    /// node reads.
    fn sources_of(&self, n: Index) -> SmallVec<[Source; 3]> {
        let node = self.node(n);
        match self.fused.get(&n) {
            None => node.inputs.iter().copied().collect(),
            Some(fusion) => {
                let other =
                    node.inputs.iter().enumerate().filter(|(i, _)| *i != fusion.input).map(|(_, s)| *s);
                other.chain(self.node(fusion.node).inputs.iter().copied()).collect()
            }
        }
    }

    /// For each node, whether a Merge reads it.
    fn feeds_merge(&self) -> Dense<Index, bool> {
        let mut feeds_merge = Dense::filled(false, self.program.nodes().len());
        for node in self.program.nodes().iter().filter(|n| n.role() == Role::Merge) {
            for input in &node.inputs {
                feeds_merge[input.node] = true;
            }
        }
        feeds_merge
    }

    /// The control edges of a node, with those that it takes over from inputs and controls that are left out.
    fn moved_controls(&self, n: Index) -> SmallVec<[Control; 2]> {
        let node = self.node(n);
        let mut controls = Unique::new();
        for &c in &node.controls {
            match &self.left[c] {
                None => controls.add(Control { node: c, port: None }),
                Some(left) => {
                    left.controls.iter().for_each(|c| controls.add(*c));
                    if let Some(Value::Source(s)) = left.value {
                        controls.add(Control { node: s.node, port: Some(s.index) });
                    }
                }
            }
        }
        for left in node.inputs.iter().filter_map(|input| self.left[input.node].as_ref()) {
            left.controls.iter().for_each(|c| controls.add(*c));
        }
        controls.into_items()
    }

    /// The value of a pure node of the root whose inputs are all constants, if it is small.
    fn folded(&mut self, n: Index, controls: &[Control]) -> Option<Tensor> {
        let node = self.node(n);
        let info = node.info()?;
        let is_pure = info.op.kernel.effect == Effect::Pure;
        let one = info.output_types.len() == 1 && !info.output_types[0].is_ref;
        let small = node.shapes.first()?.elements().is_some_and(|n| n <= MAX_FOLDED);
        let bound = node.inputs.is_empty() || node.frame != FrameId::ROOT || !controls.is_empty();
        if !is_pure || !one || !small || bound || !self.options.passes.has(Pass::Fold) {
            return None;
        }
        let constant = |s: &Source| match self.resolve(*s) {
            Value::Constant(c) => self.constants.get(c).filter(|t| t.elements() <= MAX_FOLDED).cloned(),
            Value::Source(_) => None,
        };
        let inputs: Option<Vec<Tensor>> = node.inputs.iter().map(constant).collect();
        let inputs = inputs?;
        let start = Instant::now();
        let bounds = self.bounds.get_or_insert_with(Bounds::of_plan);
        bounds.time = self.folding_left.min(Bounds::LONGEST);
        // An error is left for the run to report.
        let folded = lone::fold(info, &inputs, bounds);
        self.folding_left = self.folding_left.saturating_sub(start.elapsed());
        folded?.pop()
    }

    /// Drafts of the nodes that stay and of fetches. Fills `position`.
    pub(super) fn draft(&mut self) -> Result<Dense<PlanNode, Draft>> {
        let mut drafts = Dense::new();
        for (n, node) in self.program.nodes().entries() {
            if self.left[n].is_some() || self.root_of.get(&n).is_some_and(|root| *root != n) {
                continue;
            }
            let mut inputs: SmallVec<[Value; 2]> = match self.groups.get(&n) {
                Some(found) => found.inputs.iter().copied().collect(),
                None => self.sources_of(n).iter().map(|s| self.resolve(*s)).collect(),
            };
            if let Some(info) = node.info()
                && info.op.role == Role::Const
            {
                // A Const that is kept passes its own value on.
                inputs.push(Value::Constant(self.constant(info.attrs.tensor("value")?.clone())?));
            }
            let mut controls = match self.groups.get(&n) {
                Some(found) => {
                    let mut all = Unique::new();
                    let each = found.members.iter().flat_map(|member| self.moved_controls(*member));
                    each.for_each(|control| all.add(control));
                    all.into_items()
                }
                None => self.moved_controls(n),
            };
            drop_implied(&mut controls, &inputs, |n| self.node(n).role() == Role::Switch);
            let draft = Draft { origin: Origin::Node(n), inputs, controls, weak: SmallVec::new() };
            self.position[n] = drafts.push(draft);
        }
        for (&member, &root) in &self.root_of {
            self.position[member] = self.position[root];
        }
        let fetches = self.program.fetches().iter().enumerate();
        drafts.extend(fetches.map(|(k, &s)| self.reader(s, Origin::Fetch(FetchId::new(k), s))));
        Ok(drafts)
    }

    /// Drafts of the nodes that show values to the run's observer.
    pub(super) fn probe(&mut self, drafts: &mut Dense<PlanNode, Draft>) {
        let mut afterwards = Vec::new();
        for draft in drafts.iter() {
            let before = draft.weak.iter().filter_map(|&d| drafts[d].node());
            afterwards.extend(before.zip(std::iter::repeat(draft.node())).filter_map(|(a, b)| Some((a, b?))));
        }
        self.probes = Probes::new(self.program, self.options.watch_all, &afterwards).map(Box::new);
        let sources = self.probes.iter().flat_map(|p| p.sources()).enumerate();
        drafts.extend(sources.map(|(k, s)| self.reader(s, Origin::Probe(ProbeId::new(k), s))));
    }

    /// A node that takes one value out of the program.
    fn reader(&self, source: Source, origin: Origin) -> Draft {
        let inputs: SmallVec<[Value; 2]> = [self.resolve(source)].into_iter().collect();
        let mut controls: SmallVec<[Control; 2]> =
            self.left[source.node].as_ref().map(|left| left.controls.clone()).unwrap_or_default();
        drop_implied(&mut controls, &inputs, |n| self.node(n).role() == Role::Switch);
        Draft { origin, inputs, controls, weak: SmallVec::new() }
    }
}

/// Drops control edges that an input implies: the node reads an output of the same node. Of a Switch it has
/// to be the same port, or any if the edge comes from the whole Switch, since a dead Switch has no live port.
fn drop_implied(controls: &mut SmallVec<[Control; 2]>, inputs: &[Value], is_switch: impl Fn(Index) -> bool) {
    if controls.is_empty() {
        return;
    }
    // Both lists may be long.
    let sources = inputs.iter().filter_map(|v| if let Value::Source(s) = v { Some(*s) } else { None });
    let sources: HashSet<Source> = sources.collect();
    let nodes: HashSet<Index> = sources.iter().map(|s| s.node).collect();
    controls.retain(|c| {
        let implied = match c.port {
            Some(port) if is_switch(c.node) => sources.contains(&Source { node: c.node, index: port }),
            _ => nodes.contains(&c.node),
        };
        !implied
    });
}
