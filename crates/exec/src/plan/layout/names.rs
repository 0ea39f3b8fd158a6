//! What messages call the nodes, and what they were made of.

use super::*;
use crate::plan::Label;
use crate::plan::builder::Origin;
use millstream_graph::Index;

impl Layout<'_> {
    pub(super) fn labels(&self) -> Dense<PlanNode, Label> {
        let label = |(draft, &frame): (&Draft, &FrameId)| match draft.origin {
            Origin::Node(n) => {
                let node = self.builder.node(n);
                let op = node.info().map_or("feed", |info| info.op.name);
                Label { name: node.name().to_owned(), op, at: node.at, frame }
            }
            Origin::Fetch(_, source) | Origin::Probe(_, source) => {
                let node = self.builder.node(source.node);
                let name = format!("{}:{}", node.name(), source.index);
                Label { name, op: "fetch", at: node.at, frame }
            }
        };
        self.drafts.iter().zip(&self.homes).map(label).collect()
    }

    /// Where the run is watched, what each node was made of: it decides which of two findings is the first.
    pub(super) fn origins(&self) -> Dense<PlanNode, Index> {
        if !self.builder.probes.as_ref().is_some_and(|probes| probes.is_watched()) {
            return Dense::new();
        }
        let origin = |draft: &Draft| match draft.origin {
            Origin::Node(n) => n,
            Origin::Fetch(_, source) | Origin::Probe(_, source) => source.node,
        };
        self.drafts.iter().map(origin).collect()
    }
}
