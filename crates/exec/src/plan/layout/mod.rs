//! [`Layout`]: drafts of nodes become a [`Plan`], pass by pass.
//!
//! Each pass has a file, reads what the passes before it wrote, and leaves that as it is. `lay_out` is the
//! order.

mod arrivals;
mod bypass;
mod edges;
mod front;
mod inputs;
mod kinds;
mod names;
mod regions;
mod slots;
mod start;
mod straight;

use super::builder::{Builder, Draft, Value};
use super::{
    Edge, FramePlan, Input, KernelPlan, Kind, MAX_LIVE_ITERATIONS, MergeState, Node, Plan, Start, SwitchPlan,
};
use crate::ids::{
    CountId, EdgeId, FetchId, InputId, InvariantId, KernelId, MergeId, MergeInputId, OutputId, PlanNode,
    SlotId, Span, SwitchId,
};
use crate::region::{LoopPlan, Way};
use arrivals::Drawn;
use millstream_graph::{Dense, Entity, FrameId, Source};
use millstream_state::Resources;
use millstream_tensor::{Result, Tensor};
use std::collections::BTreeMap;

/// A plan whose nodes are known and whose places are being assigned.
pub(super) struct Layout<'a> {
    builder: Builder<'a>,
    drafts: Dense<PlanNode, Draft>,
    nodes: Dense<PlanNode, Node>,
    /// The frame that each node runs in.
    homes: Dense<PlanNode, FrameId>,
    /// The pending count of each node; none for merges.
    counts: Dense<PlanNode, CountId>,
    /// The invariant that each node gives; none for all but constant Enters.
    invariants: Dense<PlanNode, InvariantId>,
    frames: Dense<FrameId, FramePlan>,
    kernels: Dense<KernelId, KernelPlan>,
    switches: Dense<SwitchId, SwitchPlan>,
    slots: Dense<OutputId, SlotId>,
    inputs: Dense<InputId, Input>,
    merge_inputs: Dense<MergeInputId, (MergeId, u32)>,
    edges: Dense<EdgeId, Edge>,
    beside: BTreeMap<PlanNode, Span<EdgeId>>,
    regions: Dense<FrameId, Option<Box<LoopPlan>>>,
    ways: Dense<FrameId, Way>,
}

impl Builder<'_> {
    /// Lays drafts out. `serialized` are the frames that run one iteration at a time.
    pub(super) fn lay_out(
        self,
        drafts: Dense<PlanNode, Draft>,
        serialized: Dense<FrameId, bool>,
        kernel_state: &Resources,
    ) -> Result<Plan> {
        let mut layout = Layout::new(self, drafts, &serialized);
        layout.choose_kinds(kernel_state)?;
        layout.assign_slots();
        layout.place_inputs()?;
        layout.mark_bypassed();
        let mut drawn = layout.draw_arrivals()?;
        layout.bypass(&mut drawn);
        layout.attach(drawn);
        layout.count_invariants();
        layout.raise_regions(kernel_state)?;
        let start = layout.start();
        let start_again = layout.start_again(&start);
        let front = layout.raise_front(&start, &start_again);
        let straight = if front.is_none() { layout.straighten(&start_again) } else { None };
        Ok(Plan { front, straight, ..layout.finish(serialized, start, start_again) })
    }
}

impl<'a> Layout<'a> {
    fn new(
        builder: Builder<'a>,
        drafts: Dense<PlanNode, Draft>,
        serialized: &Dense<FrameId, bool>,
    ) -> Layout<'a> {
        let n = drafts.len();
        let frames = builder.program.frames().entries().map(|(frame, of)| FramePlan {
            name: of.name.clone(),
            parallel: match (serialized[frame], builder.options.parallel_iterations) {
                (true, _) => 1,
                (false, asked) => asked.unwrap_or(of.parallel_iterations).clamp(1, MAX_LIVE_ITERATIONS),
            },
            ..FramePlan::default()
        });
        Layout {
            frames: frames.collect(),
            homes: drafts.iter().map(|draft| builder.home(draft)).collect(),
            builder,
            drafts,
            nodes: Dense::with_capacity(n),
            counts: Dense::filled(CountId::NONE, n),
            invariants: Dense::filled(InvariantId::NONE, n),
            kernels: Dense::new(),
            switches: Dense::new(),
            slots: Dense::new(),
            inputs: Dense::new(),
            merge_inputs: Dense::new(),
            edges: Dense::new(),
            beside: BTreeMap::new(),
            regions: Dense::new(),
            ways: Dense::new(),
        }
    }

    /// The node that gives a value.
    fn maker(&self, source: Source) -> PlanNode {
        self.builder.position[source.node]
    }

    /// Which output of that node the value is.
    fn output(&self, source: Source) -> usize {
        let of_group = self.builder.output_of.get(&source.node);
        of_group.copied().unwrap_or(source.index) as usize
    }

    fn finish(mut self, serialized: Dense<FrameId, bool>, start: Start, start_again: Start) -> Plan {
        let program = self.builder.program;
        let feeds = program.feeds().iter().map(|feed| feed.map(|n| self.builder.position[n]));
        let fetches = program.fetches().iter().map(|s| program.node(s.node).output_is_ref(s.index));
        Plan {
            feeds: feeds.map(|feed| feed.filter(|n| *n != PlanNode::NONE)).collect(),
            fetches_ref: fetches.collect::<Dense<FetchId, bool>>(),
            labels: self.labels(),
            origins: self.origins(),
            left_out: self.builder.left_out(),
            constants: std::mem::take(&mut self.builder.constants),
            probes: self.builder.probes.take(),
            nothing: Tensor::scalar(false),
            hand_out_all: self.builder.options.hand_out_all,
            nodes: self.nodes,
            edges: self.edges,
            beside: self.beside,
            inputs: self.inputs,
            switches: self.switches,
            merge_inputs: self.merge_inputs,
            slots: self.slots,
            frames: self.frames,
            kernels: self.kernels,
            start,
            start_again,
            serialized,
            regions: self.regions,
            front: None,
            straight: None,
            ways: self.ways,
        }
    }
}
