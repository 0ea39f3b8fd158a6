//! How a plan holds less memory: nodes whose only reader does their work, and readers that run first so that
//! the last reader may write in place.

use super::builder::{Builder, Draft, Fusion};
use super::passes::Pass;
use crate::ids::PlanNode;
use millstream_graph::op::{Effect, Fuse, Meaning, NodeInfo, Role, RunFn};
use millstream_graph::{Dense, FrameId, Index, ProgramNode, Source};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The most elements of a small result.
const SMALL: usize = 16;
/// A value of at most this many elements is not worth an order.
const LARGE: usize = 1024;
/// A result of at least this many elements is added to a sum without being written first: 64 KiB of f32.
const MUCH: usize = 1 << 14;
/// The most readers of a value that may run first.
const MOST_FIRST: usize = 4;

impl Builder<'_> {
    /// The nodes whose work their only reader can do, each with that reader and how it then computes.
    pub(super) fn absorbable(&self) -> BTreeMap<Index, (Index, RunFn)> {
        let mut found = BTreeMap::new();
        if self.is_watched() || !self.options.passes.has(Pass::Absorb) {
            return found;
        }
        let mut reads = None;
        for (n, node) in self.program.nodes().entries() {
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
                && reads.get_or_insert_with(|| self.reads())[before] == 1
            {
                found.insert(before, (n, run));
            }
        }
        found
    }

    /// The nodes that their only reader can compute too, each with that reader.
    ///
    /// A sum can add a term by itself, of a known shape that both terms have, and not a small one: what is
    /// gained is the memory traffic of a large result, and what is lost is that the node waits for the other
    /// term. A slice can compute the part that it takes.
    pub(super) fn fusible(&self) -> BTreeMap<Index, (Index, Fusion)> {
        let mut found = BTreeMap::new();
        if self.is_watched() {
            return found;
        }
        let passes = self.options.passes;
        let mut reads = None;
        for (n, node) in self.program.nodes().entries() {
            let inputs: &[usize] = match node.info().and_then(|info| info.op.meaning) {
                Some(Meaning::Sum) if passes.has(Pass::Accumulate) && is_large(node) => &[1, 0],
                Some(Meaning::Slice) if passes.has(Pass::Narrow) => &[0],
                _ => continue,
            };
            if (0..node.inputs.len()).any(|i| self.reads_ref(n, i)) {
                continue;
            }
            for &input in inputs {
                let Some(before) = node.inputs.get(input).map(|source| source.node) else { continue };
                if let Some(run) = self.fuses_with(before, node)
                    && reads.get_or_insert_with(|| self.reads())[before] == 1
                {
                    found.insert(before, (n, Fusion { node: before, input, run }));
                }
            }
        }
        found
    }

    /// How a reader of a node computes both, if it can.
    fn fuses_with(&self, n: Index, reader: &ProgramNode) -> Option<Fuse> {
        let node = self.node(n);
        let info = node.info()?;
        let suits = info.op.role == Role::Compute
            && info.op.kernel.effect == Effect::Pure
            && info.output_types.len() == 1
            && node.controls.is_empty()
            && node.frame == reader.frame
            && (0..node.inputs.len()).all(|i| !self.reads_ref(n, i));
        let run = match reader.info()?.op.meaning? {
            Meaning::Slice => info.op.kernel.narrows,
            _ => info.op.kernel.accumulates.filter(|_| node.shapes.first() == reader.shapes.first()),
        };
        run.filter(|_| suits)
    }

    /// The number of times that each node is read, in whatever way.
    fn reads(&self) -> Dense<Index, u32> {
        let program = self.program;
        let mut reads = Dense::filled(0, program.nodes().len());
        let inside = program
            .nodes()
            .iter()
            .flat_map(|n| n.inputs.iter().map(|s| s.node).chain(n.controls.iter().copied()));
        let outside = program.fetches().iter().chain(program.every()).map(|s| s.node);
        let outside = outside.chain(program.targets().iter().copied());
        inside.chain(outside).for_each(|n| reads[n] += 1);
        reads
    }

    /// Nodes that reduce a large value to a small one (its mean, its shape) and wait for nothing else run
    /// before its other readers, so that the last of these may reuse its buffer. Only outside of loops, where
    /// values stand for all iterations together. The nodes that run first wait for the value alone, so no
    /// cycle arises.
    pub(super) fn small_first(&self, drafts: &mut Dense<PlanNode, Draft>) {
        if self.options.keep_all || self.is_watched() || !self.options.passes.has(Pass::Order) {
            return;
        }
        let mut readers: BTreeMap<Source, (SmallVec<[PlanNode; 2]>, Vec<PlanNode>)> = BTreeMap::new();
        for (d, draft) in drafts.entries() {
            let Some(n) = draft.node().filter(|_| self.home(draft) == FrameId::ROOT) else { continue };
            let node = self.node(n);
            let is_pure =
                |info: &NodeInfo| info.op.role == Role::Compute && info.op.kernel.effect == Effect::Pure;
            if !node.info().is_some_and(|info| is_pure(info)) {
                continue;
            }
            let sources: SmallVec<[Source; 2]> = draft.sources().collect();
            let is_first = sources.len() == 1
                && draft.controls.is_empty()
                && draft.weak.is_empty()
                && matches!(node.shapes.as_slice(), [shape] if shape.elements().is_some_and(|n| n <= SMALL));
            for source in sources.into_iter().filter(|s| self.may_be_large(*s)) {
                let (first, others) = readers.entry(source).or_default();
                match is_first {
                    true => first.push(d),
                    false => others.push(d),
                }
            }
        }
        for (first, others) in readers.into_values().filter(|(first, _)| first.len() <= MOST_FIRST) {
            for other in others {
                drafts[other].weak.extend(first.iter().copied());
            }
        }
    }

    fn may_be_large(&self, source: Source) -> bool {
        let shape = self.node(source.node).shapes.get(source.index as usize);
        shape.is_some_and(|s| s.elements().is_none_or(|n| n > LARGE))
    }

    fn is_watched(&self) -> bool {
        self.options.watch_all || !self.program.watched().is_empty()
    }
}

/// Whether the only output has a known shape of many elements.
fn is_large(node: &ProgramNode) -> bool {
    matches!(&node.shapes[..], [shape] if shape.full().is_some_and(|shape| MUCH <= shape.elements()))
}
