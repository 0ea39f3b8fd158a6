//! How a plan holds less memory: nodes that their only reader takes in, and readers that go first so that the last may write in place.

use super::{Builder, Draft, Value};
use millstream_graph::op::{Effect, Role, RunFn};
use millstream_graph::{Index, Source};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A result of at most this many elements is small.
const SMALL: usize = 16;
/// A value of at most so many elements is not worth an order.
const LARGE: usize = 1024;
/// How many readers of a value may go first.
const MOST_FIRST: usize = 4;

impl Builder<'_> {
    /// The nodes that their only reader can do the work of, each with that reader and how it computes then.
    pub(super) fn absorbable(&self) -> BTreeMap<Index, (Index, RunFn)> {
        let mut found = BTreeMap::new();
        if self.is_watched() {
            return found;
        }
        let mut reads = None;
        for (n, node) in self.program.nodes.iter().enumerate() {
            let (Some(info), Some(&Source { node: before, .. })) = (node.info(), node.inputs.first()) else {
                continue;
            };
            let maker = self.node(before);
            let Some((absorbs, made)) = info.op.kernel.absorbs.zip(maker.info()) else { continue };
            let suits = made.op.role == Role::Compute
                && made.op.kernel.effect == Effect::Pure
                && made.op.kernel.absorbs.is_none()
                && made.output_types.len() == 1
                && maker.inputs.len() == 1
                && maker.controls.is_empty()
                && maker.frame == node.frame
                && !self.reads_ref(before, 0);
            if suits
                && let Some(run) = absorbs(made)
                && reads.get_or_insert_with(|| self.reads())[before as usize] == 1
            {
                found.insert(before, (n as Index, run));
            }
        }
        found
    }

    /// How often each node is read, in whatever way.
    fn reads(&self) -> Vec<u32> {
        let mut reads = vec![0; self.program.nodes.len()];
        let program = self.program;
        let inside = program
            .nodes
            .iter()
            .flat_map(|n| n.inputs.iter().map(|s| s.node).chain(n.controls.iter().copied()));
        let outside = program
            .fetches
            .iter()
            .chain(&program.every)
            .map(|s| s.node)
            .chain(program.targets.iter().copied());
        inside.chain(outside).for_each(|n| reads[n as usize] += 1);
        reads
    }

    /// Whoever makes little of a large value and waits for nothing else (its mean, its shape) goes before its other readers: the last of
    /// them may have its memory then. Only outside of loops, where values stand for all iterations together. As the first ones wait for
    /// the value alone, no cycle comes of it.
    pub(super) fn small_first(&self, drafts: &mut [Draft]) {
        if self.options.keep_all || self.is_watched() {
            return;
        }
        let mut readers: BTreeMap<Source, (SmallVec<[u32; 2]>, Vec<u32>)> = BTreeMap::new();
        for (d, draft) in drafts.iter().enumerate() {
            let Some(n) = draft.node().filter(|_| self.home(draft) == 0) else { continue };
            let node = self.node(n);
            let is_pure = |info: &millstream_graph::op::NodeInfo| {
                info.op.role == Role::Compute && info.op.kernel.effect == Effect::Pure
            };
            if !node.info().is_some_and(|info| is_pure(info)) {
                continue;
            }
            let sources = draft.inputs.iter().filter_map(|v| match v {
                Value::Source(s) => Some(*s),
                Value::Constant(_) => None,
            });
            let sources: SmallVec<[Source; 2]> = sources.collect();
            let is_first = sources.len() == 1
                && draft.controls.is_empty()
                && draft.weak.is_empty()
                && matches!(node.shapes.as_slice(), [shape] if shape.elements().is_some_and(|n| n <= SMALL));
            for source in sources.into_iter().filter(|s| self.may_be_large(*s)) {
                let (first, others) = readers.entry(source).or_default();
                match is_first {
                    true => first.push(d as u32),
                    false => others.push(d as u32),
                }
            }
        }
        for (first, others) in readers.into_values().filter(|(first, _)| first.len() <= MOST_FIRST) {
            for other in others {
                drafts[other as usize].weak.extend(first.iter().copied());
            }
        }
    }

    fn may_be_large(&self, source: Source) -> bool {
        let shape = self.node(source.node).shapes.get(source.index as usize);
        shape.is_some_and(|s| s.elements().is_none_or(|n| n > LARGE))
    }

    fn is_watched(&self) -> bool {
        self.options.watch_all || !self.program.watched.is_empty()
    }
}
