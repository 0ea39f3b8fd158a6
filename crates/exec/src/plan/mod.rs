//! [`Plan`]: a program laid out for the machine. Immutable and `Sync`; all that changes during a run is in the step.
//!
//! # Layout
//!
//! Values stay where they were made and consumers come to read them: a node's output has a *slot* in the slab of its
//! iteration, and an input is a number that says where to read. Only the arrival is told, by counting down:
//!
//! ```text
//!   iteration slab    values[slot]    uses[slot]    pending[node]    merges[merge]
//!   input             00|slot   a slot of the iteration the node runs in
//!                     01|index  a constant of the plan
//!                     10|index  an invariant of the frame (a constant Enter)
//! ```
//!
//! The last consumer takes the value out of its slot, so that its kernel may write in place. Scalars are copied, and their consumers not
//! counted.
//!
//! # What is left out
//!
//! A `Const` is never run where its consumers can read it from the plan; an `Identity` or `LoopCond` never where they can read
//! its input. The control edges of a node left out move to its consumers, with the deadness of the port they
//! came from. A node with a `Merge` among its consumers is only left out if it has no control inputs, since a merge treats them otherwise.
//!
//! A pure node of one input is left out where its only reader [can do its work](millstream_graph::op::Kernel::absorbing): the squares of a
//! sum of squares are never there.
//!
//! A `Merge` of a loop variable is *bypassed* where its `Enter` and its `NextIteration` write into its own slot, nobody asks which of them
//! came, and it has no control inputs: those two have its edges then, and the machine never sees it.
//!
//! When a run is traced nothing is left out or bypassed.
//!
//! What gives the handles of named things, and what makes handles of these alone, runs in the first run with a machine and again where
//! names were forgotten: the handles stay in their slots, and runs between [start without it](Plan::start_again).
//!
//! A value that is looked at has a *probe* among its consumers, a node like any other; so a run where nothing is looked at pays nothing.

mod accesses;
mod account;
mod lasting;
mod layout;
mod lean;
mod leave_out;

pub use account::{Account, Fate};

use crate::order::run_frame;
use crate::probe::Probes;
use millstream_graph::op::{BuildCx, Cost, KernelBody, KernelCx, NodeInfo, Run, RunFn};
use millstream_graph::{Attr, Index, Program, ProgramNode, Source};
use millstream_state::Resources;
use millstream_tensor::{Error, Result, Tensor, invalid};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a plan is made.
#[derive(Clone, Default, Debug)]
pub struct PlanOptions {
    /// Every node is run and seen: nothing is folded or left out.
    pub keep_all: bool,
    /// Overrides `parallel_iterations` of every frame.
    pub parallel_iterations: Option<u32>,
    /// Every kernel may be given to another thread, however short it is: for tests of what runs at the same time.
    pub hand_out_all: bool,
    /// Every float that a node computes or that is fed is watched.
    pub watch_all: bool,
}

/// More iterations than this are never alive at a time, whatever `parallel_iterations` says: the result is the same, and a
/// counter cannot run ahead of its data without bound.
pub const MAX_LIVE_ITERATIONS: u32 = 1024;

/// A program laid out for the machine.
pub struct Plan {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// For an Enter or NextIteration that reads a variable: who waits for it in its own iteration, where its other edges do not lead.
    pub(crate) beside: BTreeMap<u32, (u32, u32)>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) switches: Vec<SwitchPlan>,
    /// For edges to merges: which merge, and which of its inputs.
    pub(crate) merge_inputs: Vec<(u32, u32)>,
    /// The slots of the nodes' outputs, one after another.
    pub(crate) slots: Vec<u32>,
    pub(crate) frames: Vec<FramePlan>,
    pub(crate) constants: Vec<Tensor>,
    /// Stands for a value that is not there; no live node reads it.
    pub(crate) nothing: Tensor,
    pub(crate) kernels: Vec<KernelPlan>,
    /// For each feed the node that stands for it.
    pub(crate) feeds: Vec<Option<u32>>,
    /// For each fetch whether it is of a variable's reference: its value is what the variable holds at the end of the run.
    pub(crate) fetches_ref: Vec<bool>,
    /// How the root starts, and how where a run before has left the handles that last.
    pub(crate) start: Start,
    pub(crate) start_again: Start,
    /// What the nodes were made of: names for messages.
    pub(crate) labels: Vec<Label>,
    /// What is looked at on the way: the nodes of [`Kind::Probe`].
    pub(crate) probes: Option<Box<Probes>>,
    /// In a plan with watches: the program's node that each node was made of, or whose output it reads.
    pub(crate) origins: Vec<Index>,
    /// Frames forced to one iteration at a time because variables are written in them.
    pub(crate) serialized: Vec<String>,
    /// Every kernel may be given to another thread.
    pub(crate) hand_out_all: bool,
}

/// How a run starts.
#[derive(Clone)]
pub(crate) struct Start {
    /// Nodes of the root that wait for nothing.
    pub ready: Vec<u32>,
    /// What the root's nodes wait for.
    pub pending: Vec<u32>,
}

/// What messages and traces say of a node.
pub(crate) struct Label {
    pub name: String,
    pub op: &'static str,
    pub at: &'static std::panic::Location<'static>,
    /// The frame that the node runs in.
    pub frame: u32,
}

/// A node as the machine sees it: one cache line.
#[repr(align(64))]
pub(crate) struct Node {
    pub kind: Kind,
    /// The first two inputs, which most nodes are through with.
    pub leading: [Input; 2],
    /// The edge of a node that has just one, if it is plain; else [`Edge::NONE`].
    pub only: Edge,
    pub first_input: u32,
    pub n_inputs: u32,
    /// The first output's slot; [`NO_SLOT`] if nobody reads it. All of them: [`Plan::slots`].
    pub slot: u32,
    pub first_slot: u32,
    /// Edges; of a `Switch` those that do not belong to a port alone.
    pub edges: (u32, u32),
}

const _: () = assert!(size_of::<Node>() == 64);

/// What a `Switch` does beyond its node.
pub(crate) struct SwitchPlan {
    /// The slot of each port.
    pub slots: [u32; 2],
    /// The edges of each port.
    pub edges: [(u32, u32); 2],
    /// Those of them that a dead value travels: the others swallow it and lie behind.
    pub dead: [(u32, u32); 2],
}

pub(crate) const NO_SLOT: u32 = u32::MAX;

/// A slot that is read so often is never read for the last time: its value stays there from run to run.
pub(crate) const LASTS: u32 = 1 << 31;

/// What the machine does with a node.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Unary(fn(&millstream_tensor::Scalar) -> Option<millstream_tensor::Scalar>, u32),
    Binary(
        fn(&millstream_tensor::Scalar, &millstream_tensor::Scalar) -> Option<millstream_tensor::Scalar>,
        u32,
    ),
    Kernel(u32),
    /// Passes its input on.
    Forward,
    /// Runs for its edges alone.
    Nothing,
    /// Which of the plan's switches.
    Switch(u32),
    Merge(u32),
    /// The frame, and which of its bypassed merges it stands for ([`NO_SLOT`] if none).
    Enter(u32, u32),
    /// A constant Enter: the frame, and which of its invariants it gives.
    EnterConstant(u32, u32),
    Exit,
    /// Which bypassed merge it stands for.
    NextIteration(u32),
    Feed,
    Fetch(u32),
    /// Shows a value to the run's observer, as this probe.
    Probe(u32),
}

/// An arrival: which node it counts down. Eight bytes, since a machine that runs short kernels reads little else.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub node: u32,
    /// What the arrival does, as [`To`], in the three top bits; below them, where the node's pending count is in the slab.
    packed: u32,
}

/// What an arrival does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    /// Counts down; a dead arrival makes the node dead.
    Node,
    /// Counts down; deadness is not passed on.
    Weak,
    /// Counts down; a dead arrival is not even counted (Exits and NextIterations swallow it).
    LiveOnly,
    /// A data input of a merge; the local number says which: see [`Plan::merge_inputs`].
    Merge,
    /// A control input of a merge; the local number is the merge's.
    MergeControl,
}

impl Edge {
    const LOCAL: u32 = (1 << 29) - 1;
    /// No edge: neither plain nor ever followed.
    pub(crate) const NONE: Edge = Edge { node: NO_SLOT, packed: u32::MAX };

    fn new(node: u32, local: u32, to: To) -> Result<Edge> {
        if local > Self::LOCAL {
            return Err(invalid!("the graph is too large: more than 2^29 nodes in one frame"));
        }
        Ok(Edge { node, packed: local | (to as u32) << 29 })
    }

    /// The place of the pending count if the arrival does nothing but count down and pass deadness on: [`To::Node`].
    #[inline(always)]
    pub(crate) fn plain(self) -> Option<usize> {
        (self.packed <= Self::LOCAL).then_some(self.packed as usize)
    }

    pub(crate) fn local(self) -> usize {
        (self.packed & Self::LOCAL) as usize
    }

    pub(crate) fn to(self) -> To {
        match self.packed >> 29 {
            0 => To::Node,
            1 => To::Weak,
            2 => To::LiveOnly,
            3 => To::Merge,
            _ => To::MergeControl,
        }
    }
}

/// Where to read an input.
#[derive(Clone, Copy)]
pub(crate) struct Input(u32);

pub(crate) enum Place {
    Slot(usize),
    Constant(usize),
    Invariant(usize),
}

impl Input {
    const DEREF: u32 = 1 << 29;

    fn new(tag: u32, index: u32, deref: bool) -> Result<Input> {
        if index >= Self::DEREF {
            return Err(invalid!("the graph is too large: more than 2^29 values in one frame"));
        }
        Ok(Input(tag << 30 | index | if deref { Self::DEREF } else { 0 }))
    }

    #[inline]
    pub(crate) fn place(self) -> Place {
        let index = (self.0 & (Self::DEREF - 1)) as usize;
        match self.0 >> 30 {
            0 => Place::Slot(index),
            1 => Place::Constant(index),
            _ => Place::Invariant(index),
        }
    }

    /// The slot, if it is one of the iteration's and its value is wanted as it is: the most frequent case.
    #[inline(always)]
    pub(crate) fn own_slot(self) -> Option<usize> {
        (self.0 < Self::DEREF).then_some(self.0 as usize)
    }

    /// Whether what is read is a reference to a variable, and the variable's value is wanted.
    #[inline]
    pub(crate) fn deref(self) -> bool {
        self.0 & Self::DEREF != 0
    }
}

/// The kernel of a node, prepared.
pub(crate) struct KernelPlan {
    pub info: Arc<NodeInfo>,
    pub body: Body,
}

pub(crate) enum Body {
    Run(RunFn),
    Prepared(Box<dyn Run>),
    Waits(millstream_graph::op::Waits),
}

/// What every iteration of a frame starts as.
#[derive(Default)]
pub(crate) struct FramePlan {
    pub name: String,
    pub parallel: u32,
    pub n_slots: u32,
    /// Pending counts when nothing has arrived, and when all invariants have.
    pub pending: Vec<u32>,
    pub pending_with_invariants: Vec<u32>,
    /// Readers of each slot, counted down where the value is no scalar.
    pub uses: Vec<u32>,
    pub merges: Vec<MergeState>,
    /// Nodes that the invariants alone make ready.
    pub ready_with_invariants: Vec<u32>,
    pub n_enters: u32,
    /// The constant Enters, by invariant.
    pub invariants: Vec<u32>,
    /// Edges from invariants to merges, which the short way above leaves out.
    pub invariant_merges: Vec<u32>,
    /// The Exits, as nodes.
    pub exits: Vec<u32>,
}

/// How far a merge has got.
#[derive(Clone, Copy)]
pub(crate) struct MergeState {
    pub data_left: u32,
    pub controls_left: u32,
    /// The input that came first; [`MergeState::NONE`] before.
    pub chosen: u32,
    /// A merge of a loop variable: one token, from the Enter or the NextIteration, decides.
    pub is_loop: bool,
    /// The machine never sees it: its Enter and its NextIteration write where its consumers read, and have its edges.
    pub bypassed: bool,
}

impl MergeState {
    pub(crate) const NONE: u32 = u32::MAX;
    pub(crate) const DEAD: u32 = u32::MAX - 1;
}

impl KernelPlan {
    /// Nanoseconds that the kernel will take, roughly.
    pub(crate) fn cost(&self, inputs: &[Tensor]) -> f64 {
        match self.info.op.kernel.cost {
            Cost::PerElement(ns) => {
                f64::from(ns) * inputs.iter().map(Tensor::elements).max().unwrap_or(1) as f64
            }
            Cost::Estimate(estimate) => estimate(&self.info, inputs),
        }
    }

    /// Computes, and says whether it did: what has to wait does not. A panic becomes an error; what the node's attribute `_help` says (whoever
    /// made it knows what it is for) is the cure.
    pub(crate) fn run(&self, cx: &mut KernelCx) -> Result<bool> {
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match &self.body {
            Body::Run(run) => run(cx).map(|()| true),
            Body::Prepared(kernel) => kernel.run(cx).map(|()| true),
            Body::Waits(waits) => (waits.at_once)(cx),
        }));
        let result = result.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
            Err(Error::internal(format!("the kernel panicked: {text}")))
        });
        result.map_err(|error| match self.info.attrs.get("_help") {
            Some(Attr::Str(help)) => error.with_help(help.text()),
            _ => error,
        })
    }
}

/// What a node's consumers use instead of it.
#[derive(Clone, Default)]
struct Left {
    /// A value of the plan, or an output of another node.
    value: Option<Value>,
    /// What its control edges became.
    controls: SmallVec<[Control; 2]>,
}

#[derive(Clone, Copy, PartialEq)]
enum Value {
    Constant(u32),
    Source(Source),
}

/// A control edge: from a node whole, or with the deadness of one of its outputs.
#[derive(Clone, Copy, PartialEq)]
struct Control {
    node: Index,
    port: Option<u32>,
}

impl Plan {
    /// Lays a program out. `kernel_state` is where prepared kernels keep their state.
    pub fn new(program: &Program, kernel_state: &Resources, options: &PlanOptions) -> Result<Plan> {
        Builder::new(program, options).build(kernel_state)
    }

    /// How many nodes the machine runs (those left out not counted).
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The slots of a node's first `n` outputs.
    pub(crate) fn slots(&self, node: &Node, n: usize) -> &[u32] {
        &self.slots[node.first_slot as usize..][..n]
    }

    /// The nodes that run in a frame, each with its number.
    pub(crate) fn nodes_of(&self, frame: u32) -> impl Iterator<Item = (usize, &Node)> {
        let labels = self.labels.iter();
        self.nodes
            .iter()
            .zip(labels)
            .enumerate()
            .filter(move |(_, (_, l))| l.frame == frame)
            .map(|(n, (node, _))| (n, node))
    }

    /// The name of what fetch `k` asked for.
    pub(crate) fn fetch_name(&self, k: usize) -> &str {
        let at = self.nodes.iter().position(|n| matches!(n.kind, Kind::Fetch(i) if i as usize == k));
        at.map_or("", |n| &self.labels[n].name)
    }

    /// The loops that run one iteration at a time because variables are written in them.
    pub fn serialized_loops(&self) -> &[String] {
        &self.serialized
    }
}

struct Builder<'a> {
    program: &'a Program,
    options: &'a PlanOptions,
    left: Vec<Option<Left>>,
    constants: Vec<Tensor>,
    /// How nodes compute that do the work of the one before them.
    instead: BTreeMap<Index, RunFn>,
    /// The plan's node of each node kept.
    position: Vec<u32>,
    probes: Option<Box<Probes>>,
}

/// A node of the plan with its edges still as sources.
struct Draft {
    origin: Origin,
    inputs: SmallVec<[Value; 2]>,
    controls: SmallVec<[Control; 2]>,
    /// Plan nodes that must have run before, dead or alive.
    weak: SmallVec<[u32; 1]>,
}

/// What a node of the plan was made of.
#[derive(Clone, Copy)]
enum Origin {
    /// A node of the program.
    Node(Index),
    /// What takes this source for fetch `k`.
    Fetch(u32, Source),
    /// What takes this source for probe `k`.
    Probe(u32, Source),
}

impl Draft {
    /// The program's node that this one stands for.
    fn node(&self) -> Option<Index> {
        match self.origin {
            Origin::Node(n) => Some(n),
            Origin::Fetch(..) | Origin::Probe(..) => None,
        }
    }
}

impl<'a> Builder<'a> {
    fn new(program: &'a Program, options: &'a PlanOptions) -> Self {
        let n = program.nodes.len();
        Builder {
            program,
            options,
            left: vec![None; n],
            constants: Vec::new(),
            instead: BTreeMap::new(),
            position: vec![NO_SLOT; n],
            probes: None,
        }
    }

    fn node(&self, n: Index) -> &'a ProgramNode {
        &self.program.nodes[n as usize]
    }

    fn build(mut self, kernel_state: &Resources) -> Result<Plan> {
        self.leave_out()?;
        let mut drafts = self.draft()?;
        let serialized = self.order_accesses(&mut drafts);
        self.small_first(&mut drafts);
        self.probe(&mut drafts);
        self.lay_out(drafts, serialized, kernel_state)
    }

    /// The frame that a node runs in: where its inputs are.
    fn run_frame(&self, n: Index) -> u32 {
        run_frame(self.program, n)
    }

    /// The frame that a node of the plan runs in.
    fn home(&self, draft: &Draft) -> u32 {
        match draft.origin {
            Origin::Node(n) => self.run_frame(n),
            Origin::Fetch(_, source) | Origin::Probe(_, source) => self.node(source.node).frame,
        }
    }

    fn constant(&mut self, value: Tensor) -> Result<u32> {
        let index = u32::try_from(self.constants.len()).map_err(|_| invalid!("too many constants"))?;
        self.constants.push(value);
        Ok(index)
    }

    /// Whether input `i` is a reference whose variable's value the node wants.
    fn reads_ref(&self, n: Index, i: usize) -> bool {
        self.program.reads_reference(n, i)
    }

    /// What a source stands for once nodes are left out.
    fn resolve(&self, source: Source) -> Value {
        match self.left[source.node as usize].as_ref().and_then(|l| l.value) {
            Some(Value::Constant(c)) => Value::Constant(c),
            Some(value) => value,
            None => Value::Source(source),
        }
    }
}

/// A placeholder that a run needs a value for.
pub(crate) fn not_fed(info: &NodeInfo, node: &ProgramNode) -> Error {
    let dtype = info.output_types.first().map_or("", |ty| ty.dtype.kernel_name());
    let shape = info.attrs.shape("shape").ok().filter(|s| s.rank().is_some_and(|r| 0 < r));
    let and = shape.map(|s| format!(" and shape {s}")).unwrap_or_default();
    invalid!("You must feed a value for placeholder tensor '{}' with dtype {dtype}{and}", info.name;
        "the placeholder `{}` ({}{}) must be fed", info.name, info.output_types[0], node.shapes[0])
    .at_node(&info.name, info.op.name)
    .at_line(node.at)
    .with_help(format!("add a value for `{}:0` to the feeds", info.name))
}

pub(crate) fn prepare(info: &Arc<NodeInfo>, kernel_state: &Resources) -> Result<KernelPlan> {
    let body = match info.op.kernel.body {
        KernelBody::Run(run) => Body::Run(run),
        KernelBody::Waits(waits) => Body::Waits(waits),
        KernelBody::Build(make) => Body::Prepared(make(&BuildCx { node: info, kernel_state })?),
        KernelBody::Structural => {
            return Err(Error::unimplemented(format!("op {} has no kernel", info.op.name)));
        }
    };
    Ok(KernelPlan { info: info.clone(), body })
}
