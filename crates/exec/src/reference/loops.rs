//! How loops begin, go round and end.

use super::run::{Instance, Iteration, Run};
use super::{Tag, Value};
use crate::errors::exited_twice;
use millstream_graph::Index;
use millstream_tensor::{Result, Tensor};
use std::collections::BTreeSet;

impl Run<'_> {
    pub(super) fn enter(&mut self, n: Index, tag: &Tag, value: Value) {
        let reference = self.reference;
        let node = reference.program.node(n);
        let mut key = tag.clone();
        key.push((node.frame, 0));
        if !self.instances.contains_key(&key) {
            let instance = Instance {
                oldest: 0,
                next: 0,
                enters_missing: reference.loops[node.frame].n_enters,
                constants: Vec::new(),
                parked: Vec::new(),
                exited: BTreeSet::new(),
            };
            self.instances.insert(key.clone(), instance);
            if let Some(around) = self.iterations.get_mut(tag) {
                around.inside += 1;
            }
            self.start_iteration(&key);
        }
        let Some(instance) = self.instances.get_mut(&key) else { return };
        instance.enters_missing -= 1;
        let alive = match node.is_constant_enter() {
            true => {
                instance.constants.push((n, value.clone()));
                instance.oldest..instance.next
            }
            false => 0..1,
        };
        for number in alive {
            self.give_inside(n, &key, number, value.clone());
        }
        let first = self.instances.get(&key).map_or(0, |i| i.oldest);
        self.settle(at(&key, first));
    }

    /// Gives the value of an Enter or NextIteration to its readers in an iteration.
    fn give_inside(&mut self, n: Index, key: &Tag, number: u64, value: Value) {
        let tag = at(key, number);
        match value {
            Some(value) => self.give(n, &tag, &[Some(value)]),
            None => self.give_dead(n, &tag),
        }
    }

    fn start_iteration(&mut self, key: &Tag) {
        let Some(instance) = self.instances.get_mut(key) else { return };
        let number = instance.next;
        instance.next += 1;
        let constants = instance.constants.clone();
        self.iterations.insert(at(key, number), Iteration::default());
        for (n, value) in constants {
            self.give_inside(n, key, number, value);
        }
    }

    pub(super) fn next_iteration(&mut self, n: Index, tag: &Tag, value: Tensor) {
        let Some(&(frame, number)) = tag.last() else { return };
        let key = at(tag, 0);
        let Some(instance) = self.instances.get_mut(&key) else { return };
        if instance.next == number + 1 {
            if self.reference.loops[frame].parallel <= instance.next - instance.oldest {
                instance.parked.push((n, value));
                return;
            }
            self.start_iteration(&key);
        }
        self.give_inside(n, &key, number + 1, Some(value));
    }

    pub(super) fn exit(&mut self, n: Index, tag: &Tag, value: Value) -> Result<()> {
        if let Some(instance) = self.instances.get_mut(&at(tag, 0))
            && !instance.exited.insert(n)
        {
            return Err(exited_twice());
        }
        let around = tag[..tag.len().saturating_sub(1)].to_vec();
        self.give(n, &around, &[value]);
        Ok(())
    }

    /// A token of this iteration has been dealt with.
    pub(super) fn settled(&mut self, tag: Tag) {
        if let Some(iteration) = self.iterations.get_mut(&tag) {
            iteration.outstanding -= 1;
        }
        self.settle(tag);
    }

    /// Ends the iteration if it is over, and what ends with it.
    fn settle(&mut self, tag: Tag) {
        let mut work = vec![tag];
        while let Some(tag) = work.pop() {
            let Some(&(frame, number)) = tag.last() else { continue };
            let key = at(&tag, 0);
            let (Some(iteration), Some(instance)) = (self.iterations.get(&tag), self.instances.get_mut(&key))
            else {
                continue;
            };
            let over = iteration.outstanding == 0
                && iteration.inside == 0
                && instance.enters_missing == 0
                && instance.oldest == number;
            if !over {
                continue;
            }
            instance.oldest += 1;
            self.iterations.remove(&tag);
            let parked = std::mem::take(&mut instance.parked);
            let next = instance.next;
            if !parked.is_empty() {
                self.start_iteration(&key);
                for (n, value) in parked {
                    self.give_inside(n, &key, next, Some(value));
                }
            }
            if self.iterations.contains_key(&at(&key, number + 1)) {
                work.push(at(&key, number + 1));
                continue;
            }
            let Some(instance) = self.instances.remove(&key) else { continue };
            let around = tag[..tag.len() - 1].to_vec();
            let reference = self.reference;
            for exit in reference.loops[frame].exits.iter().filter(|e| !instance.exited.contains(e)) {
                self.give_dead(*exit, &around);
            }
            if let Some(outside) = self.iterations.get_mut(&around) {
                outside.inside -= 1;
            }
            work.push(around);
        }
    }
}

/// The tag of another iteration of the same loop.
fn at(tag: &Tag, number: u64) -> Tag {
    let mut tag = tag.clone();
    if let Some(last) = tag.last_mut() {
        last.1 = number;
    }
    tag
}
