//! [`Builder`]: the way from a program to a plan, and the drafts of nodes on that way.

use super::groups::Found;
use super::{Fate, Fused, LeftOut, Plan, PlanOptions};
use crate::ids::{ConstantId, FetchId, PlanNode, ProbeId};
use crate::order::run_frame;
use crate::probe::Probes;
use millstream_graph::op::lone::Bounds;
use millstream_graph::op::{Fuse, RunFn};
use millstream_graph::{Dense, Entity, FrameId, Index, Program, ProgramNode, Source};
use millstream_state::Resources;
use millstream_tensor::{Result, Tensor, invalid};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::time::Duration;

/// A plan being made.
pub(super) struct Builder<'a> {
    pub program: &'a Program,
    pub options: &'a PlanOptions,
    /// What replaces each node that is left out.
    pub left: Dense<Index, Option<Left>>,
    pub constants: Dense<ConstantId, Tensor>,
    /// For nodes that do the work of their only input too: that input, and how they compute both.
    pub absorbed: BTreeMap<Index, (Index, RunFn)>,
    /// For nodes that compute the node that makes one of their inputs too: that node, and how.
    pub fused: BTreeMap<Index, Fusion>,
    /// The groups of nodes that run as one, by the last member.
    pub groups: BTreeMap<Index, Found>,
    /// The last member of each member's group.
    pub root_of: BTreeMap<Index, Index>,
    /// For each member that others read, which output of the plan's node it is.
    pub output_of: BTreeMap<Index, u32>,
    /// The nodes that read each node in the plan; `None` for a fetch. Filled where groups are looked for.
    pub readers: BTreeMap<Index, Vec<Option<Index>>>,
    /// The plan's node of each node that is not left out.
    pub position: Dense<Index, PlanNode>,
    pub probes: Option<Box<Probes>>,
    /// The limits of what is computed while the plan is made.
    pub bounds: Option<Bounds>,
    /// How long such computations may still take.
    pub folding_left: Duration,
}

/// The longest time that a plan spends on computing constants. The rest is computed by its runs, which have
/// threads and show their progress.
pub(super) const MOST_FOLDING: Duration = Duration::from_secs(1);

/// A node that its only reader computes.
#[derive(Clone, Copy)]
pub(super) struct Fusion {
    pub node: Index,
    /// The input of the reader that it makes.
    pub input: usize,
    pub run: Fuse,
}

/// What the consumers of a node use instead of it.
#[derive(Clone, Default)]
pub(super) struct Left {
    /// A value of the plan, or an output of another node; `None` where the node has no output.
    pub value: Option<Value>,
    /// The control edges that consumers take over.
    pub controls: SmallVec<[Control; 2]>,
}

/// Where a node reads an input, before values have slots.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Value {
    Constant(ConstantId),
    Source(Source),
}

/// A control edge: from a whole node, or with the deadness of one of its outputs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Control {
    pub node: Index,
    pub port: Option<u32>,
}

/// A node of the plan whose edges still lead to the program.
pub(super) struct Draft {
    pub origin: Origin,
    pub inputs: SmallVec<[Value; 2]>,
    pub controls: SmallVec<[Control; 2]>,
    /// Nodes that must have run before, dead or alive.
    pub weak: SmallVec<[PlanNode; 1]>,
}

/// What a node of the plan was made of.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// A node of the program.
    Node(Index),
    /// The fetch of this value.
    Fetch(FetchId, Source),
    /// The probe of this value.
    Probe(ProbeId, Source),
}

impl Draft {
    /// The program's node that this one was made of.
    pub fn node(&self) -> Option<Index> {
        match self.origin {
            Origin::Node(n) => Some(n),
            Origin::Fetch(..) | Origin::Probe(..) => None,
        }
    }

    /// The inputs that are outputs of nodes.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        self.inputs.iter().filter_map(|value| match value {
            Value::Source(source) => Some(*source),
            Value::Constant(_) => None,
        })
    }

    /// The number of arrivals that the node waits for.
    pub fn n_waits(&self) -> usize {
        self.sources().count() + self.controls.len() + self.weak.len()
    }
}

impl<'a> Builder<'a> {
    pub(super) fn new(program: &'a Program, options: &'a PlanOptions) -> Self {
        let n = program.nodes().len();
        Builder {
            program,
            options,
            left: Dense::filled(None, n),
            constants: Dense::new(),
            absorbed: BTreeMap::new(),
            fused: BTreeMap::new(),
            groups: BTreeMap::new(),
            root_of: BTreeMap::new(),
            output_of: BTreeMap::new(),
            readers: BTreeMap::new(),
            position: Dense::filled(PlanNode::NONE, n),
            probes: None,
            bounds: None,
            folding_left: MOST_FOLDING,
        }
    }

    pub(super) fn build(mut self, kernel_state: &Resources) -> Result<Plan> {
        self.leave_out()?;
        self.options.check()?;
        self.find_groups();
        self.options.check()?;
        let mut drafts = self.draft()?;
        let serialized = self.order_accesses(&mut drafts);
        self.options.check()?;
        self.small_first(&mut drafts);
        self.probe(&mut drafts);
        self.options.check()?;
        self.lay_out(drafts, serialized, kernel_state)
    }

    pub(super) fn node(&self, n: Index) -> &'a ProgramNode {
        self.program.node(n)
    }

    /// The node that a node computes too, if there is one.
    pub(super) fn fused_kernel(&self, n: Index) -> Option<Box<Fused>> {
        let Fusion { node, run, .. } = *self.fused.get(&n)?;
        let made = self.node(node);
        Some(Box::new(Fused { run, info: made.info()?.clone(), at: made.at }))
    }

    /// The frame that a node runs in: where its inputs are.
    pub(super) fn run_frame(&self, n: Index) -> FrameId {
        run_frame(self.program, n)
    }

    /// The frame that a node of the plan runs in.
    pub(super) fn home(&self, draft: &Draft) -> FrameId {
        match draft.origin {
            Origin::Node(n) => self.run_frame(n),
            Origin::Fetch(_, source) | Origin::Probe(_, source) => self.node(source.node).frame,
        }
    }

    pub(super) fn constant(&mut self, value: Tensor) -> Result<ConstantId> {
        if u32::MAX as usize <= self.constants.len() {
            return Err(invalid!("too many constants"));
        }
        Ok(self.constants.push(value))
    }

    /// Whether input `i` is a reference whose variable's value the node takes.
    pub(super) fn reads_ref(&self, n: Index, i: usize) -> bool {
        self.program.reads_reference(n, i)
    }

    /// The value to read instead of a source whose node may be left out.
    pub(super) fn resolve(&self, source: Source) -> Value {
        self.left[source.node].as_ref().and_then(|left| left.value).unwrap_or(Value::Source(source))
    }

    /// The nodes that are left out, with the reason.
    pub(super) fn left_out(&self) -> Vec<LeftOut> {
        let absorbed = self.absorbed.iter().map(|(reader, (node, _))| (*node, *reader));
        let fused = self.fused.iter().map(|(reader, fusion)| (fusion.node, *reader));
        let readers: BTreeMap<Index, Index> = absorbed.chain(fused).collect();
        let left_out = |(n, left): (Index, &Option<Left>)| {
            let fate = self.fate_left(n, left.as_ref()?, readers.get(&n).copied());
            Some(LeftOut { node: n, info: self.node(n).info()?.clone(), fate })
        };
        let in_groups = self.root_of.iter().filter(|(n, root)| n != root).filter_map(|(n, root)| {
            Some(LeftOut { node: *n, info: self.node(*n).info()?.clone(), fate: Fate::Together(*root) })
        });
        self.left.entries().filter_map(left_out).chain(in_groups).collect()
    }
}
