//! What a program does with variables: [`Program::accesses`], and where a reference variable is read.
//!
//! TensorFlow's `Identity`, `Switch` and `Enter` hand on the memory of a reference variable, not a copy of it, so that what computes with the
//! value sees what the variable holds by then: `with control_dependencies([update]): y = v * 2` reads `v` after the update though the graph
//! took `v/read` long before. `hand_on_references` says the same in a form that has an order: such nodes pass the
//! reference, and **a reference variable is read by the node that computes with its value**, at that node's place in the program.

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
    /// Whether it writes.
    pub writes: bool,
}

impl Program {
    /// For each variable (the first node that makes it) the nodes that read or write it, in the order of the program. An Enter of a loop
    /// that writes it stands for the loop.
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
            let node = &self.nodes[n as usize];
            let enters = |s: Source| variables.behind(s).is_some_and(|v| written.contains(&(node.frame, v)));
            match (node.effect(), node.inputs.first()) {
                (Effect::Reads, Some(&from)) => add(from, n, false),
                (Effect::Writes, Some(&from)) => add(from, n, true),
                (_, Some(&from)) if node.role() == Role::Enter && enters(from) => add(from, n, true),
                // Runs when all of its frame is over.
                _ if node.role() == Role::Exit => {}
                _ => (0..node.inputs.len())
                    .filter(|&i| self.reads_reference(n, i))
                    .for_each(|i| add(node.inputs[i], n, false)),
            }
        }
        accesses
    }

    /// Whether input `i` is a reference to a variable and the node wants its value.
    pub fn reads_reference(&self, n: Index, i: usize) -> bool {
        !self.takes_reference(n, i) && self.is_reference(self.nodes[n as usize].inputs[i])
    }

    /// The loops in which variables are written: their iterations run one after another.
    pub fn writing_loops(&self) -> BTreeSet<u32> {
        Variables::of(self).written_in().into_iter().map(|(frame, _)| frame).collect()
    }

    /// Lets nodes that only pass a value on pass references on. Into a loop only where the loop writes the variable: one that only reads
    /// takes the value once, as it is entered.
    pub(crate) fn hand_on_references(&mut self) {
        for n in self.passing_references() {
            self.nodes[n as usize].pass_reference();
        }
    }

    fn passing_references(&self) -> Vec<Index> {
        let variables = Variables::of(self);
        let written = variables.written_in();
        let looked_at: BTreeSet<Index> = self.every.iter().chain(&self.watched).map(|s| s.node).collect();
        let mut passing = vec![false; self.nodes.len()];
        for &n in &self.order {
            let node = &self.nodes[n as usize];
            let Some(&from) = node.inputs.first() else { continue };
            let passes = match node.role() {
                Role::Identity | Role::Switch => true,
                Role::Enter if node.is_constant_enter() => {
                    variables.behind(from).is_some_and(|v| written.contains(&(node.frame, v)))
                }
                _ => false,
            };
            let is_reference = passing[from.node as usize] || self.is_reference(from);
            passing[n as usize] =
                passes && is_reference && !self.takes_reference(n, 0) && !looked_at.contains(&n);
        }
        (0..).zip(passing).filter(|(_, passes)| *passes).map(|(n, _)| n).collect()
    }

    fn takes_reference(&self, n: Index, i: usize) -> bool {
        self.nodes[n as usize].info().is_some_and(|info| info.input_types.get(i).is_some_and(|t| t.is_ref))
    }

    fn is_reference(&self, source: Source) -> bool {
        self.nodes[source.node as usize].output_is_ref(source.index)
    }
}

/// The variables of a program.
struct Variables<'a> {
    program: &'a Program,
    /// The first node of each container and `shared_name`: nodes of one shared name are one variable.
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
        for (n, node) in (0..).zip(&program.nodes) {
            if let Some(name) = shared_name(node) {
                shared.entry(name).or_insert(n);
            }
        }
        Variables { program, shared }
    }

    /// The node that made the variable that a handle or reference leads to; None where it is fed.
    fn behind(&self, mut source: Source) -> Option<Index> {
        for _ in 0..self.program.nodes.len() {
            let node = &self.program.nodes[source.node as usize];
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

    /// The loops, each with a variable that is written in it, or in a loop inside of it.
    fn written_in(&self) -> BTreeSet<(u32, Index)> {
        let mut written = BTreeSet::new();
        for node in self.program.nodes.iter().filter(|node| node.effect() == Effect::Writes) {
            let Some(variable) = node.inputs.first().and_then(|s| self.behind(*s)) else { continue };
            let mut frame = node.frame;
            while frame != 0 && written.insert((frame, variable)) {
                frame = self.program.frames[frame as usize].parent;
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

    /// What takes a value and gives it on now takes a reference and gives that.
    fn pass_reference(&mut self) {
        let ProgramKind::Node(info) = &mut self.kind else { return };
        let info = Arc::make_mut(info);
        if let Some(input) = info.input_types.first_mut() {
            input.is_ref = true;
        }
        info.output_types.iter_mut().for_each(|output| output.is_ref = true);
    }
}
