//! The variables that a program reads and writes: [`Program::accesses`], and the place where a reference
//! variable is read.
//!
//! TensorFlow's `Identity`, `Switch` and `Enter` pass on the memory of a reference variable, not a copy of
//! it, so a node that computes with the value sees what the variable holds at that time:
//! `with control_dependencies([update]): y = v * 2` reads `v` after the update, although the graph took
//! `v/read` before it. `hand_on_references` makes this explicit: such nodes pass the reference on, and **a
//! reference variable is read by the node that computes with its value**, at that node's place in the
//! program.

use crate::entity::Dense;
use crate::ids::FrameId;
use crate::op::{Effect, Role};
use crate::program::{Index, Program, ProgramKind, ProgramNode, Source};
use millstream_tensor::Str;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A node that reads or writes a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The node.
    pub node: Index,
    /// Whether it writes the variable.
    pub writes: bool,
}

impl Program {
    /// Returns for each variable, by the first node that makes it, the nodes that read or write it, in the
    /// order of the program. For a loop that writes the variable an Enter of the loop is listed.
    pub fn accesses(&self) -> BTreeMap<Index, Vec<Access>> {
        let variables = Variables::of(self);
        let written = variables.written_in();
        let mut accesses: BTreeMap<Index, Vec<Access>> = BTreeMap::new();
        let mut add = |source: Source, node: Index, writes: bool| {
            if let Some(list) = variables.behind(source).map(|v| accesses.entry(v).or_default())
                && list.last().is_none_or(|last| last.node != node)
            {
                list.push(Access { node, writes });
            }
        };
        for &n in &self.order {
            let node = &self.nodes[n];
            let enters = |s: Source| variables.behind(s).is_some_and(|v| written.contains(&(node.frame, v)));
            match (node.effect(), node.inputs.first()) {
                (Effect::Reads, Some(&from)) => add(from, n, false),
                (Effect::Writes, Some(&from)) => add(from, n, true),
                (_, Some(&from)) if node.role() == Role::Enter && enters(from) => add(from, n, true),
                // It runs when its whole frame is over.
                _ if node.role() == Role::Exit => {}
                _ => (0..node.inputs.len())
                    .filter(|&i| self.reads_reference(n, i))
                    .for_each(|i| add(node.inputs[i], n, false)),
            }
        }
        accesses
    }

    /// Returns whether input `i` is a reference to a variable of which the node takes the value.
    pub fn reads_reference(&self, n: Index, i: usize) -> bool {
        !self.takes_reference(n, i) && self.is_reference(self.nodes[n].inputs[i])
    }

    /// Returns the loops whose iterations run one after another: those that write variables, and those with
    /// nodes whose runs must keep their order ([`Kernel::in_order`](crate::op::Kernel::in_order)).
    pub fn writing_loops(&self) -> BTreeSet<FrameId> {
        let mut loops: BTreeSet<FrameId> =
            Variables::of(self).written_in().into_iter().map(|(frame, _)| frame).collect();
        for node in self.nodes.iter().filter(|n| n.info().is_some_and(|i| i.op.kernel.in_order)) {
            let mut frame = node.frame;
            while frame != FrameId::ROOT && loops.insert(frame) {
                frame = self.frames[frame].parent;
            }
        }
        loops
    }

    /// Makes nodes that only pass a value on pass references on. A constant Enter does so only if its loop
    /// writes the variable: a loop that only reads takes the value once, when it is entered.
    pub(crate) fn hand_on_references(&mut self) {
        for n in self.passing_references() {
            self.nodes[n].pass_reference();
        }
    }

    fn passing_references(&self) -> Vec<Index> {
        let variables = Variables::of(self);
        let written = variables.written_in();
        let looked_at: BTreeSet<Index> = self.every.iter().chain(&self.watched).map(|s| s.node).collect();
        let mut passing = Dense::filled(false, self.nodes.len());
        for &n in &self.order {
            let node = &self.nodes[n];
            let Some(&from) = node.inputs.first() else { continue };
            let passes = match node.role() {
                Role::Identity | Role::Switch => true,
                Role::Enter if node.is_constant_enter() => {
                    variables.behind(from).is_some_and(|v| written.contains(&(node.frame, v)))
                }
                _ => false,
            };
            let is_reference = passing[from.node] || self.is_reference(from);
            passing[n] = passes && is_reference && !self.takes_reference(n, 0) && !looked_at.contains(&n);
        }
        passing.entries().filter(|(_, passes)| **passes).map(|(n, _)| n).collect()
    }

    fn takes_reference(&self, n: Index, i: usize) -> bool {
        self.nodes[n].info().is_some_and(|info| info.input_types.get(i).is_some_and(|t| t.is_ref))
    }

    fn is_reference(&self, source: Source) -> bool {
        self.nodes[source.node].output_is_ref(source.index)
    }
}

/// The variables of a program.
struct Variables<'a> {
    program: &'a Program,
    /// The first node of each container and `shared_name`. Nodes with the same shared name are one variable.
    shared: HashMap<SharedName<'a>, Index>,
}

type SharedName<'a> = (Option<&'a Str>, &'a Str);

impl<'a> Variables<'a> {
    fn of(program: &'a Program) -> Variables<'a> {
        #[expect(
            clippy::mutable_key_type,
            reason = "what changes in a string is the count of what it is charged for"
        )]
        let mut shared = HashMap::new();
        for (n, node) in program.nodes.entries() {
            if let Some(name) = shared_name(node) {
                shared.entry(name).or_insert(n);
            }
        }
        Variables { program, shared }
    }

    /// The node that made the variable behind a handle or reference. `None` if it is fed.
    fn behind(&self, mut source: Source) -> Option<Index> {
        for _ in 0..self.program.nodes.len() {
            let node = &self.program.nodes[source.node];
            let info = node.info()?;
            let passes = info.op.role != Role::Compute
                || self.program.is_reference(source) && self.program.takes_reference(source.node, 0);
            match node.inputs.first() {
                Some(&from) if passes => source = from,
                _ => {
                    let first = shared_name(node).and_then(|name| self.shared.get(&name).copied());
                    return Some(first.unwrap_or(source.node));
                }
            }
        }
        None
    }

    /// Pairs of a loop and a variable that is written in it, or in a loop inside of it.
    fn written_in(&self) -> BTreeSet<(FrameId, Index)> {
        let mut written = BTreeSet::new();
        for node in self.program.nodes.iter().filter(|node| node.effect() == Effect::Writes) {
            let Some(variable) = node.inputs.first().and_then(|s| self.behind(*s)) else { continue };
            let mut frame = node.frame;
            while frame != FrameId::ROOT && written.insert((frame, variable)) {
                frame = self.program.frames[frame].parent;
            }
        }
        written
    }
}

fn shared_name(node: &ProgramNode) -> Option<SharedName<'_>> {
    let info = node.info()?;
    let name = info.attrs.str("shared_name").ok().filter(|s| !s.is_empty())?;
    Some((info.attrs.str("container").ok(), name))
}

impl ProgramNode {
    fn effect(&self) -> Effect {
        self.info().map_or(Effect::Pure, |i| i.op.kernel.effect)
    }

    /// Makes a node that passes a value on take a reference and pass that on.
    fn pass_reference(&mut self) {
        let ProgramKind::Node(info) = &mut self.kind else { return };
        let info = Arc::make_mut(info);
        if let Some(input) = info.input_types.first_mut() {
            input.is_ref = true;
        }
        info.output_types.iter_mut().for_each(|output| output.is_ref = true);
    }
}
