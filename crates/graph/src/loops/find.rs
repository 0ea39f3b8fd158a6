//! The walk that finds loops: one pass over the nodes in order, then a look at each loop.

use super::count::{bounds, step};
use super::{Condition, Irregular, Key, Loop, LoopId, LoopTree, Variable, View, Why};
use crate::op::{Effect, Role};
use std::collections::BTreeMap;

/// Finds the loops of a view.
pub(super) fn find<V: View + ?Sized>(view: &V) -> LoopTree<V::Node> {
    let mut finder = Finder::new(view);
    if !view.order().any(|n| view.role(n) == Role::Enter) {
        return finder.tree;
    }
    finder.tree.home = vec![None; view.n_positions()];
    finder.variable_of = vec![None; view.n_positions()];
    for node in view.order() {
        finder.visit(node);
    }
    for l in 0..finder.tree.loops.len() {
        finder.look_back(l);
    }
    finder.hand_effects_out();
    finder.tree
}

type Value<V> = <<V as View>::Node as Key>::Value;

struct Finder<'a, V: View + ?Sized> {
    view: &'a V,
    tree: LoopTree<V::Node>,
    by_name: BTreeMap<String, LoopId>,
    /// The variable that an Enter, a Merge or a Switch belongs to, by position.
    variable_of: Vec<Option<(LoopId, u32)>>,
    /// The order in which nodes that do more than compute were met, for each loop that has one.
    impure_at: BTreeMap<LoopId, usize>,
    n_visited: usize,
}

impl<'a, V: View + ?Sized> Finder<'a, V> {
    fn new(view: &'a V) -> Self {
        let tree = LoopTree { loops: Vec::new(), home: Vec::new() };
        let (by_name, variable_of, impure_at) = Default::default();
        Finder { view, tree, by_name, variable_of, impure_at, n_visited: 0 }
    }

    fn at(&mut self, id: LoopId) -> &mut Loop<V::Node> {
        &mut self.tree.loops[id.0 as usize]
    }

    fn variable(&mut self, (id, v): (LoopId, u32)) -> &mut Variable<V::Node> {
        &mut self.at(id).variables[v as usize]
    }

    fn irregular(&mut self, id: LoopId, node: V::Node, why: Why) {
        self.at(id).irregular.push(Irregular { node, why });
    }

    fn depth(&self, id: Option<LoopId>) -> u32 {
        id.map_or(0, |id| self.tree.loops[id.0 as usize].depth + 1)
    }

    /// The variable of the Enter, Merge or Switch that a value comes from.
    fn behind(&self, value: Option<&Value<V>>) -> Option<(V::Node, u32, (LoopId, u32))> {
        let (from, index) = V::Node::source(*value?)?;
        let of = self.variable_of.get(from.position()).copied().flatten()?;
        Some((from, index, of))
    }

    fn visit(&mut self, node: V::Node) {
        let role = self.view.role(node);
        let around = self.around(node);
        let home = match role {
            Role::Enter => self.enter(node, around),
            Role::Exit => self.exit(node, around),
            _ => around,
        };
        self.tree.home[node.position()] = home;
        self.n_visited += 1;
        if let Some(id) = home {
            self.at(id).nodes.push(node);
            self.note_effect(id, node);
        }
        match (role, home) {
            (Role::Merge, Some(id)) => self.merge(node, id),
            (Role::Switch, Some(id)) => self.switch(node, id),
            (Role::LoopCond, Some(id)) => self.loop_cond(node, id),
            (Role::Identity, Some(_)) => self.identity(node),
            _ => {}
        }
        self.check_reads(node, role);
    }

    /// The innermost loop that an input comes from; of a node whose inputs are not of one frame the deepest.
    fn around(&self, node: V::Node) -> Option<LoopId> {
        let back = self.view.back_edge(node);
        let data = self.view.inputs(node).iter().enumerate().filter(|(i, _)| back != Some(*i));
        let data = data.filter_map(|(_, value)| self.view.producer(*value));
        let all = data.chain(self.view.controls(node).iter().copied());
        let loops = all.filter_map(|n| self.tree.home.get(n.position()).copied().flatten());
        loops.reduce(|a, b| if self.depth(Some(a)) < self.depth(Some(b)) { b } else { a })
    }

    fn enter(&mut self, node: V::Node, outer: Option<LoopId>) -> Option<LoopId> {
        let info = self.view.info(node)?;
        let name = info.attrs.str("frame_name").ok()?.text().into_owned();
        let id = match self.by_name.get(&name) {
            Some(&id) => id,
            None => {
                let parallel = info.attrs.int("parallel_iterations").unwrap_or(1);
                self.open(name, u32::try_from(parallel).unwrap_or(u32::MAX), outer)
            }
        };
        if self.at(id).parent != outer {
            self.irregular(id, node, Why::OtherParent);
        }
        if info.is_constant_enter() {
            self.at(id).invariants.push(node);
            return Some(id);
        }
        self.variable_of[node.position()] = Some((id, self.at(id).variables.len() as u32));
        let initial = self.view.inputs(node).first().copied();
        self.at(id).variables.push(Variable {
            enter: node,
            initial,
            merge: None,
            switch: None,
            current: None,
            next: None,
            step: None,
            exit: None,
        });
        Some(id)
    }

    fn open(&mut self, name: String, parallel_iterations: u32, parent: Option<LoopId>) -> LoopId {
        let id = LoopId(self.tree.loops.len() as u32);
        self.by_name.insert(name.clone(), id);
        let depth = self.depth(parent);
        if let Some(parent) = parent {
            self.at(parent).children.push(id);
        }
        self.tree.loops.push(Loop {
            name,
            parallel_iterations,
            parent,
            depth,
            children: Vec::new(),
            condition: None,
            variables: Vec::new(),
            invariants: Vec::new(),
            nodes: Vec::new(),
            impure: None,
            irregular: Vec::new(),
        });
        id
    }

    /// Gives the loop around the one that is left.
    fn exit(&mut self, node: V::Node, left: Option<LoopId>) -> Option<LoopId> {
        let id = left?;
        let switch = self.behind(self.view.inputs(node).first());
        let switch = switch.filter(|(from, ..)| self.view.role(*from) == Role::Switch);
        match switch {
            Some((from, index, of)) => {
                self.variable(of).exit = Some(node);
                if self.variable(of).switch != Some(from) || index != 0 {
                    self.irregular(id, node, Why::StrayExit);
                }
            }
            None => self.irregular(id, node, Why::StrayExit),
        }
        self.at(id).parent
    }

    fn merge(&mut self, node: V::Node, id: LoopId) {
        let back = self.view.back_edge(node);
        let entered = self.view.inputs(node).iter().find_map(|value| {
            let (from, _, of) = self.behind(Some(value))?;
            (self.view.role(from) == Role::Enter).then_some(of)
        });
        let Some(of) = entered else {
            if back.is_some() {
                self.irregular(id, node, Why::StrayMerge);
            }
            return;
        };
        let next = back.and_then(|i| self.view.producer(self.view.inputs(node)[i]));
        let next = next.and_then(|next| self.view.inputs(next).first().copied());
        self.variable_of[node.position()] = Some(of);
        let variable = self.variable(of);
        variable.next = next;
        if variable.merge.replace(node).is_some() {
            self.irregular(of.0, node, Why::TwoMerges);
        }
    }

    fn switch(&mut self, node: V::Node, id: LoopId) {
        let inputs = self.view.inputs(node);
        let decided = self.view.is_loop_switch(node);
        let Some((from, _, of)) = self.behind(inputs.first()) else {
            if decided {
                self.irregular(id, node, Why::StraySwitch);
            }
            return;
        };
        self.variable_of[node.position()] = Some(of);
        let variable = self.variable(of);
        if !decided || variable.merge != Some(from) {
            return;
        }
        if variable.switch.replace(node).is_some() {
            self.irregular(of.0, node, Why::TwoSwitches);
        }
    }

    fn loop_cond(&mut self, node: V::Node, id: LoopId) {
        let Some(&value) = self.view.inputs(node).first() else { return };
        let condition = Condition { node, value, nodes: Vec::new(), n_parts: 1, bounds: Vec::new() };
        if self.at(id).condition.replace(condition).is_some() {
            self.irregular(id, node, Why::TwoConditions);
        }
    }

    fn identity(&mut self, node: V::Node) {
        if let Some((from, 1, of)) = self.behind(self.view.inputs(node).first())
            && self.variable(of).switch == Some(from)
        {
            self.variable(of).current.get_or_insert(node);
        }
    }

    /// Notes who reads a variable where it is there in the first or the last iteration only.
    fn check_reads(&mut self, node: V::Node, role: Role) {
        for value in self.view.inputs(node) {
            let Some((from, index, of)) = self.behind(Some(value)) else { continue };
            match self.view.role(from) {
                Role::Enter if role != Role::Merge => self.irregular(of.0, node, Why::ReadsEnter),
                Role::Switch
                    if role != Role::Exit && index == 0 && self.variable(of).switch == Some(from) =>
                {
                    self.irregular(of.0, node, Why::ReadsLast);
                }
                _ => {}
            }
        }
    }

    fn note_effect(&mut self, id: LoopId, node: V::Node) {
        let Some(info) = self.view.info(node) else { return };
        let pure = match info.op.role {
            Role::Compute => info.op.kernel.effect == Effect::Pure,
            // A reference to a variable is read where its value is wanted.
            _ => info.output_types.iter().all(|t| !t.is_ref),
        };
        if !pure && self.at(id).impure.is_none() {
            self.at(id).impure = Some(node);
            self.impure_at.insert(id, self.n_visited);
        }
    }

    /// What a loop does, the loops around it do.
    fn hand_effects_out(&mut self) {
        for l in (0..self.tree.loops.len()).rev() {
            let id = LoopId(l as u32);
            let (Some(node), Some(parent)) = (self.at(id).impure, self.at(id).parent) else { continue };
            let at = self.impure_at.get(&id).copied().unwrap_or(0);
            if self.impure_at.get(&parent).is_none_or(|first| at < *first) {
                self.at(parent).impure = Some(node);
                self.impure_at.insert(parent, at);
            }
        }
    }

    /// What can be told once all of a loop is there.
    fn look_back(&mut self, l: usize) {
        let id = LoopId(l as u32);
        let view = self.view;
        for v in 0..self.tree.loops[l].variables.len() {
            let variable = self.tree.loops[l].variables[v];
            let (node, why) = match variable {
                Variable { merge: None, enter, .. } => (enter, Why::NoMerge),
                Variable { merge: Some(merge), next: None, .. } => (merge, Why::NoNext),
                Variable { merge: Some(merge), switch: None, .. } => (merge, Why::NoSwitch),
                _ => {
                    self.tree.loops[l].variables[v].step = step(view, &variable);
                    continue;
                }
            };
            self.irregular(id, node, why);
        }
        let it = &self.tree.loops[l];
        let Some(condition) = &it.condition else {
            let first = it.nodes.first().copied();
            if let Some(node) = first {
                self.irregular(id, node, Why::NoCondition);
            }
            return;
        };
        let (n_parts, bounds) = bounds(view, it, condition.value);
        let nodes = self.needed_by(id, condition.node);
        if let Some(condition) = &mut self.at(id).condition {
            (condition.nodes, condition.n_parts, condition.bounds) = (nodes, n_parts, bounds);
        }
    }

    /// The nodes directly inside of a loop that one of them depends on, in order, up to the primitives by
    /// which values come in.
    fn needed_by(&self, id: LoopId, node: V::Node) -> Vec<V::Node> {
        let mut seen = std::collections::BTreeSet::new();
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            let mut visit = |from: V::Node| {
                let variable = self.variable_of.get(from.position()).copied().flatten();
                let comes_in = self.view.role(from) == Role::Enter
                    || self.view.role(from) == Role::Merge && variable.is_some_and(|(l, _)| l == id);
                if self.tree.loop_of(from) == Some(id) && !comes_in && seen.insert(from) {
                    work.push(from);
                }
            };
            let inputs = self.view.inputs(node).iter().filter_map(|v| self.view.producer(*v));
            let all = inputs.chain(self.view.controls(node).iter().copied());
            match self.view.role(node) {
                // From an inner loop's result to what enters that loop.
                Role::Exit => {
                    let inner = self.view.inputs(node).first().and_then(|v| self.view.producer(*v));
                    let inner = inner.and_then(|n| self.tree.loop_of(n)).and_then(|id| self.tree.get(id));
                    let Some(inner) = inner.filter(|inner| inner.parent == Some(id)) else { continue };
                    let enters =
                        inner.variables.iter().map(|v| v.enter).chain(inner.invariants.iter().copied());
                    for enter in enters {
                        let inputs = self.view.inputs(enter).iter().filter_map(|v| self.view.producer(*v));
                        inputs.chain(self.view.controls(enter).iter().copied()).for_each(&mut visit);
                    }
                }
                _ => all.for_each(visit),
            }
        }
        seen.into_iter().collect()
    }
}
