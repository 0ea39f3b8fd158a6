//! Tokens: how they arrive at a node, and how a node's outputs become tokens.

use super::run::{Place, Run, Token};
use super::{Tag, Value};
use crate::ids::ProbeId;
use crate::variable::read_reference;
use millstream_graph::Index;
use millstream_graph::loops::View;
use millstream_graph::op::Role;
use millstream_tensor::{Error, PartialShape, Result, Tensor};

impl Run<'_> {
    pub(super) fn send(&mut self, node: Index, tag: &Tag, place: Place, value: Value) {
        if let Some(iteration) = self.iterations.get_mut(tag) {
            iteration.outstanding += 1;
        }
        self.tokens.push_back(Token { node, tag: tag.clone(), place, value });
    }

    /// Gives a node's outputs to its readers, under the tag of the readers. The node is dead if all outputs
    /// are.
    pub(super) fn give(&mut self, n: Index, tag: &Tag, outputs: &[Value]) {
        self.check_shapes(n, tag, outputs);
        let dead = !outputs.is_empty() && outputs.iter().all(Option::is_none);
        self.pass_on(n, tag, outputs, dead);
    }

    /// Checks outputs against the inferred shapes, which have to contain those of every iteration.
    fn check_shapes(&mut self, n: Index, tag: &Tag, outputs: &[Value]) {
        let node = self.reference.program.node(n);
        for (i, (value, shape)) in outputs.iter().zip(&node.shapes).enumerate() {
            let Some(value) = value.as_ref().filter(|_| !node.output_is_ref(i as u32)) else { continue };
            if !shape.contains(&PartialShape::from(value.shape())) {
                let error = Error::internal(format!(
                    "output {i} of `{}` has shape {}, and shape {shape} was inferred or declared",
                    node.name(),
                    value.shape()
                ));
                let error = self.located(error, n, tag);
                self.wrong.get_or_insert(error);
            }
        }
    }

    /// Tells the nodes that wait for it that a node has run, dead or alive, under this tag.
    pub(super) fn ran(&mut self, n: Index, tag: &Tag) {
        let reference = self.reference;
        for &later in &reference.readers[n].afterwards {
            self.send(later, tag, Place::Afterwards, None);
        }
    }

    pub(super) fn pass_on(&mut self, n: Index, tag: &Tag, outputs: &[Value], dead: bool) {
        let reference = self.reference;
        let readers = &reference.readers[n];
        let value = |port: u32| outputs.get(port as usize).cloned().flatten();
        for &(port, reader, input) in &readers.data {
            self.send(reader, tag, Place::Input(input), value(port));
        }
        for &(port, fetch) in &readers.fetches {
            self.results[fetch] = Some(value(port));
        }
        for &(port, probe) in &readers.probes {
            self.show(n, port, probe, tag, value(port));
        }
        for &reader in &readers.controls {
            // A control token is a value that is never read.
            self.send(reader, tag, Place::Control, (!dead).then(|| Tensor::scalar(true)));
        }
    }

    /// A probe shows a value to the observer.
    fn show(&mut self, n: Index, port: u32, probe: ProbeId, tag: &Tag, value: Value) {
        let Some(value) = value else { return };
        let value = match self.reference.program.node(n).output_is_ref(port) {
            true => read_reference(&value),
            false => Ok(value),
        };
        let (Some(probes), Some(observer)) = (&self.reference.probes, &mut self.observer) else { return };
        let path = tag.iter().copied().collect();
        if let Err(error) = value.and_then(|value| observer.see(probes, probe, &path, value)) {
            let error = self.located(error, n, tag);
            if let Some(observer) = &mut self.observer {
                observer.found(probes.moment_of_probe(&path, probe), error);
            }
        }
    }

    /// Tells the readers of a node that it is dead: every output is, and its control edges are.
    pub(super) fn give_dead(&mut self, n: Index, tag: &Tag) {
        let n_outputs = self.reference.program.node(n).n_outputs();
        self.pass_on(n, tag, &vec![None; n_outputs], true);
    }

    /// A token arrives. The node runs if it was the last that it waited for.
    pub(super) fn arrive(&mut self, token: Token) -> Result<()> {
        let Token { node: n, tag, place, value } = token;
        let reference = self.reference;
        let node = reference.program.node(n);
        let (role, n_inputs) = (node.role(), node.inputs.len());
        let n_controls = reference.n_controls[n];
        let is_loop = || reference.program.back_edge(n).is_some();
        let Some(iteration) = self.iterations.get_mut(&tag) else {
            return Err(Error::internal("a token for an iteration that is over"));
        };
        let arrived = iteration.arrived.entry(n).or_default();
        match place {
            Place::Start => {}
            Place::Control | Place::Afterwards => {
                arrived.n_controls += 1;
                arrived.dead_control |= place == Place::Control && value.is_none();
            }
            Place::Input(i) => {
                if role == Role::Merge && arrived.chosen.is_none() {
                    let all_dead = value.is_none()
                        && (is_loop()
                            || arrived.inputs.values().filter(|v| v.is_none()).count() + 1 == n_inputs);
                    if value.is_some() || all_dead {
                        arrived.chosen = Some((i, value.clone()));
                    }
                }
                arrived.inputs.insert(i, value);
            }
        }
        let ready = !arrived.ran
            && arrived.n_controls == n_controls
            && match role {
                Role::Merge => arrived.chosen.is_some(),
                _ => arrived.inputs.len() == n_inputs,
            };
        if !ready {
            return Ok(());
        }
        arrived.ran = true;
        if role == Role::Merge {
            // The record stays, so that later inputs are seen to be late.
            let chosen = arrived.chosen.clone();
            return self.run_merge(n, &tag, chosen);
        }
        let arrived = iteration.arrived.remove(&n).unwrap_or_default();
        let dead_input = arrived.inputs.values().any(Option::is_none);
        let inputs: Vec<Tensor> = arrived.inputs.into_values().flatten().collect();
        match (dead_input || arrived.dead_control) && role != Role::ControlTrigger {
            true => self.run_dead(n, &tag),
            false => self.run_live(n, &tag, inputs)?,
        }
        if !self.waits(n) {
            self.ran(n, &tag);
        }
        Ok(())
    }
}
