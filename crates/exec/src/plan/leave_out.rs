//! Which nodes are left out and what stands for them, and drafts of those that stay, with what they wait for.

use super::{Body, Builder, Control, Draft, Left, Origin, Value, prepare};
use crate::probe::Probes;
use millstream_graph::op::{Effect, KernelCx, NodeInfo, Role};
use millstream_graph::{Index, Source};
use millstream_tensor::{Result, Tensor};
use smallvec::SmallVec;
use std::sync::Arc;

/// How many control edges a node left out may pass on to each consumer.
const MAX_MOVED_CONTROLS: usize = 4;

impl Builder<'_> {
    pub(super) fn leave_out(&mut self) -> Result<()> {
        if self.options.keep_all {
            return Ok(());
        }
        let mut feeds_merge = vec![false; self.program.nodes.len()];
        for node in self.program.nodes.iter().filter(|n| n.role() == Role::Merge) {
            for input in &node.inputs {
                feeds_merge[input.node as usize] = true;
            }
        }
        let absorbable = self.absorbable();
        for &n in &self.program.order {
            let node = self.node(n);
            let Some(info) = node.info() else { continue };
            if feeds_merge[n as usize] && (!node.controls.is_empty() || info.op.role == Role::Const) {
                continue;
            }
            let controls = self.moved_controls(n);
            if controls.len() > MAX_MOVED_CONTROLS {
                continue;
            }
            let value = match info.op.role {
                Role::Const => Some(Value::Constant(self.constant(info.attrs.tensor("value")?.clone())?)),
                Role::Identity | Role::LoopCond if !self.reads_ref(n, 0) => {
                    node.inputs.first().map(|s| self.resolve(*s))
                }
                Role::Compute if node.controls.is_empty() => match self.folded(n) {
                    Some(value) => Some(Value::Constant(self.constant(value)?)),
                    None => match absorbable.get(&n) {
                        Some(&(reader, run)) => {
                            self.instead.insert(reader, run);
                            node.inputs.first().map(|s| self.resolve(*s))
                        }
                        None => continue,
                    },
                },
                _ => continue,
            };
            if matches!(value, Some(Value::Constant(_))) && feeds_merge[n as usize] {
                continue;
            }
            self.left[n as usize] = Some(Left { value, controls });
        }
        Ok(())
    }

    /// The control edges of a node, and those that come with inputs and controls that were left out.
    fn moved_controls(&self, n: Index) -> SmallVec<[Control; 2]> {
        let node = self.node(n);
        let mut controls: SmallVec<[Control; 2]> = SmallVec::new();
        let mut add = |c: Control| {
            if !controls.contains(&c) {
                controls.push(c);
            }
        };
        for &c in &node.controls {
            match &self.left[c as usize] {
                None => add(Control { node: c, port: None }),
                Some(left) => {
                    left.controls.iter().copied().for_each(&mut add);
                    if let Some(Value::Source(s)) = left.value {
                        add(Control { node: s.node, port: Some(s.index) });
                    }
                }
            }
        }
        for input in &node.inputs {
            if let Some(left) = &self.left[input.node as usize] {
                left.controls.iter().copied().for_each(&mut add);
            }
        }
        controls
    }

    /// The value of a pure node of the root whose inputs are all constants, if it is small.
    fn folded(&self, n: Index) -> Option<Tensor> {
        let node = self.node(n);
        let info = node.info()?;
        let kernel = &info.op.kernel;
        let one = info.output_types.len() == 1 && !info.output_types[0].is_ref;
        let small = node.shapes.first()?.elements().is_some_and(|n| n <= 1 << 14);
        if kernel.effect != Effect::Pure || !one || !small || node.inputs.is_empty() || node.frame != 0 {
            return None;
        }
        let inputs: Option<Vec<Tensor>> = node
            .inputs
            .iter()
            .map(|s| match self.resolve(*s) {
                Value::Constant(c) if self.moved_controls(n).is_empty() => {
                    self.constants.get(c as usize).filter(|t| t.elements() <= 1 << 14).cloned()
                }
                _ => None,
            })
            .collect();
        self.program_fold(info, &inputs?)
    }

    fn program_fold(&self, info: &NodeInfo, inputs: &[Tensor]) -> Option<Tensor> {
        let env = crate::lone::env();
        let mut inputs = inputs.to_vec();
        let mut outputs: SmallVec<[Option<Tensor>; 1]> = SmallVec::from_elem(None, 1);
        let mut cx = KernelCx::new(info, &env, &mut inputs, &mut outputs);
        let kernel = prepare(&Arc::new(info.clone()), &env.kernel_state).ok()?;
        if matches!(kernel.body, Body::Waits(_)) {
            return None;
        }
        // An error is left for the run to report.
        kernel.run(&mut cx).ok()?;
        outputs.pop()?
    }

    pub(super) fn draft(&mut self) -> Result<Vec<Draft>> {
        let mut drafts = Vec::new();
        for (n, node) in self.program.nodes.iter().enumerate() {
            if self.left[n].is_some() {
                continue;
            }
            self.position[n] = drafts.len() as u32;
            let mut inputs: SmallVec<[Value; 2]> = node.inputs.iter().map(|s| self.resolve(*s)).collect();
            if let Some(info) = node.info()
                && info.op.role == Role::Const
            {
                // A Const that is kept passes its own value on.
                inputs.push(Value::Constant(self.constant(info.attrs.tensor("value")?.clone())?));
            }
            let mut controls = self.moved_controls(n as Index);
            drop_implied(&mut controls, &inputs, |n| self.node(n).role() == Role::Switch);
            drafts.push(Draft { origin: Origin::Node(n as Index), inputs, controls, weak: SmallVec::new() });
        }
        let fetches = self.program.fetches.iter().enumerate();
        drafts.extend(fetches.map(|(k, &source)| self.reader(source, Origin::Fetch(k as u32, source))));
        Ok(drafts)
    }

    /// Drafts of what shows values to the run's observer.
    pub(super) fn probe(&mut self, drafts: &mut Vec<Draft>) {
        let mut afterwards = Vec::new();
        for draft in drafts.iter() {
            let before = draft.weak.iter().filter_map(|&d| drafts[d as usize].node());
            afterwards.extend(before.zip(std::iter::repeat(draft.node())).filter_map(|(a, b)| Some((a, b?))));
        }
        self.probes = Probes::new(self.program, self.options.watch_all, &afterwards).map(Box::new);
        let sources = self.probes.iter().flat_map(|p| p.sources()).enumerate();
        drafts.extend(sources.map(|(k, source)| self.reader(source, Origin::Probe(k as u32, source))));
    }

    /// What takes one value, for somebody outside of the program.
    fn reader(&self, source: Source, origin: Origin) -> Draft {
        let inputs: SmallVec<[Value; 2]> = [self.resolve(source)].into_iter().collect();
        let mut controls: SmallVec<[Control; 2]> =
            self.left[source.node as usize].as_ref().map(|l| l.controls.clone()).unwrap_or_default();
        drop_implied(&mut controls, &inputs, |n| self.node(n).role() == Role::Switch);
        Draft { origin, inputs, controls, weak: SmallVec::new() }
    }
}

/// A control edge says nothing new where the node reads an output of the same node: of a Switch the same port, or any if
/// the edge comes from the Switch whole, since a dead Switch has no live port.
fn drop_implied(controls: &mut SmallVec<[Control; 2]>, inputs: &[Value], is_switch: impl Fn(Index) -> bool) {
    controls.retain(|c| {
        !inputs.iter().any(|v| match v {
            Value::Source(s) => {
                s.node == c.node && (!is_switch(c.node) || c.port.is_none() || c.port == Some(s.index))
            }
            Value::Constant(_) => false,
        })
    });
}
