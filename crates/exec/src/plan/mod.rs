//! [`Plan`]: a program laid out for the machine. Immutable and `Sync`; all that changes during a run is in
//! the step.
//!
//! # Layout
//!
//! Values stay where they were made, and consumers read them there: a node's output has a *slot* in the slab
//! of its iteration, and an input is a number that says where to read. An arrival only counts down:
//!
//! ```text
//!   iteration slab    values[slot]    uses[slot]    pending[count]    merges[merge]
//!   input             00|slot   a slot of the iteration that the node runs in
//!                     01|index  a constant of the plan
//!                     10|index  an invariant of the frame (a constant Enter)
//! ```
//!
//! The last consumer takes the value out of its slot, so that its kernel may write in place. Scalars are
//! copied, and their consumers are not counted.
//!
//! `layout` has a file for each pass that computes a part of this.
//!
//! # What is left out
//!
//! A `Const` never runs where its consumers can read it from the plan; an `Identity` or `LoopCond` never runs
//! where they can read its input. The control edges of a node left out move to its consumers, with the
//! deadness of the port they came from. A node with a `Merge` among its consumers is only left out if it has
//! no control inputs, since a merge treats them otherwise.
//!
//! A pure node of one input is left out where its only reader
//! [can do its work](millstream_graph::op::Kernel::absorbing): the squares of a sum of squares never exist.
//!
//! A node whose only reader is a sum is left out where it
//! [can add its output to that](millstream_graph::op::Kernel::accumulating): the terms of a weight's gradient
//! are never written. Likewise a node whose only reader takes a slice of it is left out where
//! [a part of it can be computed](millstream_graph::op::Kernel::narrowing): of the gradient of `[x, h]`, only
//! that of `h`.
//!
//! Elementwise nodes that are connected run as one node of the plan, that of the last of them, tile by tile:
//! what passes between them takes no memory (`groups`).
//!
//! A `Merge` of a loop variable is *bypassed* where its `Enter` and its `NextIteration` write into its own
//! slot, its index is not read, and it has no control inputs. Its edges are theirs then, and the machine
//! never sees it.
//!
//! When a run is traced nothing is left out or bypassed.
//!
//! Nodes that give the handles of named resources, and nodes that make handles of these alone, run in a
//! machine's first run and again after a name was forgotten. Their handles stay in their slots, and the runs
//! between [start without these nodes](Plan::start_again).
//!
//! In a plan without loops and branches all is known of the order in which the machine runs the nodes. Such
//! a plan runs [step by step](StraightPlan) without tokens, until a node is worth another thread or has to
//! wait.
//!
//! A value that is looked at has a *probe* among its consumers, which is a node like any other. A run where
//! nothing is looked at pays nothing for it.

mod accesses;
mod account;
mod builder;
mod group;
mod groups;
mod kernel;
mod layout;
mod lean;
mod leave_out;
mod listing;
mod node;
mod passes;
mod straight;

pub use account::{Account, Fate};
pub(crate) use kernel::{Body, Fused, KernelPlan, cost, prepare};
pub(crate) use node::{Edge, Input, Kind, LASTS, Node, Place, SwitchPlan, To};
pub use passes::{Pass, Passes};
pub(crate) use straight::{Reads, StraightPlan, StraightStep};

use crate::errors::timed_out;
use crate::ids::{
    ConstantId, CountId, EdgeId, FetchId, InputId, InvariantId, KernelId, MergeId, MergeInputId, OutputId,
    PlanNode, SlotId, Span, SwitchId,
};
use crate::probe::Probes;
use crate::region::{Code, LoopPlan, Measured, RegionPlan, Regions, Way};
use millstream_graph::op::NodeInfo;
use millstream_graph::{Dense, FrameId, Index, Program};
use millstream_state::{Cancellation, Resources};
use millstream_tensor::{Result, Tensor};
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;
use std::time::Instant;

/// How a plan is made.
#[derive(Clone, Default, Debug)]
pub struct PlanOptions {
    /// Every node runs and is seen: nothing is folded or left out.
    pub keep_all: bool,
    /// Overrides `parallel_iterations` of every frame.
    pub parallel_iterations: Option<u32>,
    /// Every kernel may run on another thread, however short it is. For tests of concurrency.
    pub hand_out_all: bool,
    /// Every float that a node computes or that is fed is watched.
    pub watch_all: bool,
    /// Which loops run as regions, and how.
    pub regions: Regions,
    /// What a plan does to be fast.
    pub passes: Passes,
    /// The time by which the run that the plan is made for has to end.
    pub deadline: Option<Instant>,
    /// The cancellation of that run.
    pub cancel: Cancellation,
}

impl PlanOptions {
    /// Returns an error if the run is cancelled or out of time.
    pub fn check(&self) -> Result<()> {
        self.cancel.raised()?;
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(timed_out()),
            _ => Ok(()),
        }
    }
}

/// The most iterations of a frame that are ever alive, whatever `parallel_iterations` allows. The result is
/// the same, and a counter cannot run ahead of its data without bound.
pub const MAX_LIVE_ITERATIONS: u32 = 1024;

/// A program laid out for the machine. Prints as a listing.
pub struct Plan {
    pub(crate) nodes: Dense<PlanNode, Node>,
    pub(crate) edges: Dense<EdgeId, Edge>,
    /// For an Enter or NextIteration that reads a variable: the edges to nodes of its own iteration, where
    /// its other edges do not lead.
    pub(crate) beside: BTreeMap<PlanNode, Span<EdgeId>>,
    pub(crate) inputs: Dense<InputId, Input>,
    pub(crate) switches: Dense<SwitchId, SwitchPlan>,
    /// For edges to merges: which merge, and which of its inputs.
    pub(crate) merge_inputs: Dense<MergeInputId, (MergeId, u32)>,
    /// The slots of the nodes' outputs.
    pub(crate) slots: Dense<OutputId, SlotId>,
    pub(crate) frames: Dense<FrameId, FramePlan>,
    pub(crate) constants: Dense<ConstantId, Tensor>,
    /// The value of an invariant that has not arrived. No live node reads it.
    pub(crate) nothing: Tensor,
    pub(crate) kernels: Dense<KernelId, KernelPlan>,
    /// The node of each feed; `None` where nothing needs it.
    pub(crate) feeds: Vec<Option<PlanNode>>,
    /// For each fetch, whether it is of a variable's reference. Its value is then the variable's at the end
    /// of the run.
    pub(crate) fetches_ref: Dense<FetchId, bool>,
    /// The root frame's initial state: for a first run, and for a run that finds the handles of an earlier
    /// one in place.
    pub(crate) start: Start,
    pub(crate) start_again: Start,
    /// The nodes' names, for messages.
    pub(crate) labels: Dense<PlanNode, Label>,
    /// The values that are looked at by the nodes of [`Kind::Probe`].
    pub(crate) probes: Option<Box<Probes>>,
    /// In a plan with watches: the program's node that each node was made of, or whose output it reads.
    /// Otherwise empty.
    pub(crate) origins: Dense<PlanNode, Index>,
    /// The nodes of the program that no node was made of.
    pub(crate) left_out: Vec<LeftOut>,
    /// For each frame, whether it is forced to one iteration at a time because variables are written in it.
    pub(crate) serialized: Dense<FrameId, bool>,
    /// Every kernel may run on another thread.
    pub(crate) hand_out_all: bool,
    /// The frames that run as regions.
    pub(crate) regions: Dense<FrameId, Option<Box<LoopPlan>>>,
    /// What code computes before the machine starts.
    pub(crate) front: Option<Box<FrontPlan>>,
    /// The order of the nodes, where there are neither loops nor branches.
    pub(crate) straight: Option<Box<StraightPlan>>,
    /// How each frame runs.
    pub(crate) ways: Dense<FrameId, Way>,
}

/// How a run starts.
#[derive(Clone)]
pub(crate) struct Start {
    /// The nodes of the root that wait for nothing.
    pub ready: Vec<PlanNode>,
    /// The pending counts of the root's nodes.
    pub pending: Dense<CountId, u32>,
}

/// Nodes outside of loops that code computes before the machine starts. They need nothing but feeds and
/// constants.
pub(crate) struct FrontPlan {
    pub region: RegionPlan,
    /// The number of nodes that the machine need not run.
    pub n_nodes: usize,
    /// The feed that each input of the code is.
    pub feeds: Vec<usize>,
    /// Where the code's outputs go.
    pub outputs: Vec<SlotId>,
    /// How often the nodes read each value that others may read too.
    pub reads: Vec<(SlotId, u32)>,
    /// As [`Plan::start`] and [`Plan::start_again`], where the nodes need not run.
    pub start: Start,
    pub start_again: Start,
}

/// What messages and traces call a node.
pub(crate) struct Label {
    pub name: String,
    pub op: &'static str,
    pub at: &'static Location<'static>,
    /// The frame that the node runs in.
    pub frame: FrameId,
}

/// A node of the program that the plan does not run.
pub(crate) struct LeftOut {
    pub node: Index,
    pub info: Arc<NodeInfo>,
    pub fate: Fate,
}

/// The initial state of a frame's iterations.
#[derive(Default)]
pub(crate) struct FramePlan {
    pub name: String,
    pub parallel: u32,
    /// The readers of each slot, counted down where the value is no scalar.
    pub uses: Dense<SlotId, u32>,
    /// The pending counts when nothing has arrived.
    pub pending: Dense<CountId, u32>,
    /// The pending counts when all invariants have arrived alive.
    pub pending_with_invariants: Dense<CountId, u32>,
    /// The nodes that the invariants alone make ready.
    pub ready_with_invariants: Vec<PlanNode>,
    /// The edges from invariants to merges, which the two lists above leave out.
    pub invariant_merges: Vec<EdgeId>,
    pub merges: Dense<MergeId, MergeState>,
    pub n_enters: u32,
    /// The constant Enters.
    pub invariants: Dense<InvariantId, PlanNode>,
    pub exits: Vec<PlanNode>,
}

/// The progress of a merge within an iteration.
#[derive(Clone, Copy)]
pub(crate) struct MergeState {
    pub data_left: u32,
    pub controls_left: u32,
    /// The input that came first; [`MergeState::NONE`] before.
    pub chosen: u32,
    /// A merge of a loop variable: one token, from the Enter or the NextIteration, decides.
    pub is_loop: bool,
    /// The machine never sees it: its Enter and its NextIteration write where its consumers read, and have
    /// its edges.
    pub bypassed: bool,
}

impl MergeState {
    pub(crate) const NONE: u32 = u32::MAX;
    pub(crate) const DEAD: u32 = u32::MAX - 1;
}

impl Plan {
    /// Lays a program out. `kernel_state` is where prepared kernels keep their state.
    pub fn new(program: &Program, kernel_state: &Resources, options: &PlanOptions) -> Result<Plan> {
        builder::Builder::new(program, options).build(kernel_state)
    }

    /// The number of nodes that the machine runs; nodes left out are not counted.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The slots of a node's outputs.
    #[inline(always)]
    pub(crate) fn slots(&self, node: &Node) -> &[SlotId] {
        node.outputs.of(&self.slots)
    }

    /// Where a node reads its inputs.
    #[inline(always)]
    pub(crate) fn inputs(&self, node: &Node) -> &[Input] {
        node.inputs.of(&self.inputs)
    }

    /// What was measured of the code of a frame, over all runs; of the root it is the code that runs before
    /// the machine. `None` if the frame has none.
    pub fn measured(&self, frame: FrameId) -> Option<Measured> {
        match frame {
            FrameId::ROOT => Some(self.front.as_ref()?.region.measured()),
            frame => Some(self.regions.get(frame)?.as_ref()?.measured()),
        }
    }

    /// The code of a frame; of the root that which runs before the machine. A frame whose code is made in
    /// runs has that of the last kind of values that it met.
    pub fn code(&self, frame: FrameId) -> Option<Arc<Code>> {
        match frame {
            FrameId::ROOT => Some(self.front.as_ref()?.region.code.clone()),
            frame => Some(self.regions.get(frame)?.as_ref()?.region()?.code.clone()),
        }
    }

    /// Why a frame whose code is made in runs has none after a run.
    pub fn refused(&self, frame: FrameId) -> Option<(Index, &'static str)> {
        self.regions.get(frame)?.as_ref()?.refused()
    }

    /// The number of nodes outside of loops that code computes before the machine starts.
    pub fn n_front(&self) -> usize {
        self.front.as_ref().map_or(0, |front| front.n_nodes)
    }

    /// The nodes that run in a frame.
    pub(crate) fn nodes_of(&self, frame: FrameId) -> impl Iterator<Item = (PlanNode, &Node)> {
        self.nodes.entries().filter(move |(n, _)| self.labels[*n].frame == frame)
    }

    /// The name of the value that fetch `k` takes.
    pub(crate) fn fetch_name(&self, k: FetchId) -> &str {
        let fetch = self.nodes.entries().find(|(_, node)| matches!(node.kind, Kind::Fetch(i) if i == k));
        fetch.map_or("", |(n, _)| &self.labels[n].name)
    }
}
