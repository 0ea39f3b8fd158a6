//! [`Node`], [`Edge`] and [`Input`]: what the machine reads when a node runs. Small, and packed where it
//! pays.

use crate::ids::{
    ConstantId, CountId, EdgeId, FetchId, InputId, InvariantId, KernelId, MergeId, MergeInputId, OutputId,
    PlanNode, ProbeId, SlotId, Span, SwitchId,
};
use millstream_graph::{Entity, FrameId};
use millstream_tensor::{Result, Scalar, invalid};

/// A node as the machine sees it: one cache line.
#[repr(align(64))]
pub(crate) struct Node {
    pub kind: Kind,
    /// The first two inputs, which are all that most nodes have.
    pub leading: [Input; 2],
    /// The edge of a node that has just one, if it is plain; else [`Edge::NONE`].
    pub only: Edge,
    pub inputs: Span<InputId>,
    /// The slot of the first output; none if nothing reads it.
    pub slot: SlotId,
    /// The outputs, whose slots are [`Plan::slots`](super::Plan::slots).
    pub outputs: Span<OutputId>,
    /// The edges; of a `Switch` those that do not belong to one port alone.
    pub edges: Span<EdgeId>,
}

const _: () = assert!(size_of::<Node>() == 64);

/// The ports of a `Switch`.
pub(crate) struct SwitchPlan {
    /// The slot of each port.
    pub slots: [SlotId; 2],
    /// The edges of each port.
    pub edges: [Span<EdgeId>; 2],
    /// Those of them that a dead token travels. The rest, which swallow it, come last.
    pub dead: [Span<EdgeId>; 2],
}

/// The use count of a slot whose value stays there from run to run: readers never bring it down to zero.
pub(crate) const LASTS: u32 = 1 << 31;

/// How the machine executes a node.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A kernel that has a function for a scalar.
    Unary(fn(&Scalar) -> Option<Scalar>, KernelId),
    /// A kernel that has a function for two scalars.
    Binary(fn(&Scalar, &Scalar) -> Option<Scalar>, KernelId),
    Kernel(KernelId),
    /// Passes its input on.
    Forward,
    /// Runs for its edges alone.
    Nothing,
    Switch(SwitchId),
    Merge(MergeId),
    /// The frame, and the bypassed merge that it writes for, if any.
    Enter(FrameId, MergeId),
    /// A constant Enter: the frame, and the invariant that it gives.
    EnterConstant(FrameId, InvariantId),
    Exit,
    /// The bypassed merge that it writes for, if any.
    NextIteration(MergeId),
    Feed,
    Fetch(FetchId),
    /// Shows a value to the run's observer.
    Probe(ProbeId),
}

/// An arrival: the node that it counts down. Eight bytes, since a machine that runs short kernels reads
/// little else.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub node: PlanNode,
    /// The three top bits are a [`To`]. Below them is the place in the slab: of the node's pending count, of
    /// the merge, or (for [`To::Merge`]) the place in [`Plan::merge_inputs`](super::Plan::merge_inputs).
    packed: u32,
}

const _: () = assert!(size_of::<Edge>() == 8);

/// What an arrival does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum To {
    /// Counts down; a dead arrival makes the node dead.
    Node,
    /// Counts down; deadness is not passed on.
    Weak,
    /// Counts down; a dead arrival is not even counted (Exits and NextIterations swallow it).
    LiveOnly,
    /// Arrives at a data input of a merge.
    Merge,
    /// Arrives at a control input of a merge.
    MergeControl,
}

impl Edge {
    const LOCAL: u32 = (1 << 29) - 1;
    /// No edge: neither plain nor ever followed.
    pub(crate) const NONE: Edge = Edge { node: PlanNode::NONE, packed: u32::MAX };

    /// An edge that counts down; `to` is not about merges.
    pub(super) fn to_count(node: PlanNode, count: CountId, to: To) -> Result<Edge> {
        Edge::new(node, count, to)
    }

    /// An edge to a data input of a merge.
    pub(super) fn to_merge(node: PlanNode, arrival: MergeInputId) -> Result<Edge> {
        Edge::new(node, arrival, To::Merge)
    }

    /// An edge to the control inputs of a merge.
    pub(super) fn to_merge_control(node: PlanNode, merge: MergeId) -> Result<Edge> {
        Edge::new(node, merge, To::MergeControl)
    }

    fn new(node: PlanNode, local: impl Entity, to: To) -> Result<Edge> {
        match u32::try_from(local.index()) {
            Ok(local) if local <= Self::LOCAL => Ok(Edge { node, packed: local | (to as u32) << 29 }),
            _ => Err(invalid!("the graph is too large: more than 2^29 nodes in one frame")),
        }
    }

    /// The pending count, if the arrival does nothing but count down and pass deadness on: [`To::Node`].
    #[inline(always)]
    pub(crate) fn plain(self) -> Option<CountId> {
        (self.packed <= Self::LOCAL).then(|| CountId::new(self.packed as usize))
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

    /// The pending count of an edge that counts down.
    pub(crate) fn count(self) -> CountId {
        CountId::new(self.local())
    }

    /// The merge and its input, of a [`To::Merge`].
    pub(crate) fn arrival(self) -> MergeInputId {
        MergeInputId::new(self.local())
    }

    /// The merge, of a [`To::MergeControl`].
    pub(crate) fn merge(self) -> MergeId {
        MergeId::new(self.local())
    }

    fn local(self) -> usize {
        (self.packed & Self::LOCAL) as usize
    }
}

/// Where to read an input. Packed: two bits for the kind of place, one for a dereference, then the index.
#[derive(Clone, Copy)]
pub(crate) struct Input(u32);

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Slot(SlotId),
    Constant(ConstantId),
    Invariant(InvariantId),
}

impl Input {
    const DEREF: u32 = 1 << 29;
    /// The leading input of a node that has none.
    pub(super) const UNUSED: Input = Input(1 << 30);

    pub(super) fn new(place: Place, deref: bool) -> Result<Input> {
        let (tag, index) = match place {
            Place::Slot(slot) => (0, slot.index()),
            Place::Constant(constant) => (1, constant.index()),
            Place::Invariant(invariant) => (2, invariant.index()),
        };
        match u32::try_from(index) {
            Ok(index) if index < Self::DEREF => {
                Ok(Input(tag << 30 | index | if deref { Self::DEREF } else { 0 }))
            }
            _ => Err(invalid!("the graph is too large: more than 2^29 values in one frame")),
        }
    }

    #[inline]
    pub(crate) fn place(self) -> Place {
        let index = (self.0 & (Self::DEREF - 1)) as usize;
        match self.0 >> 30 {
            0 => Place::Slot(SlotId::new(index)),
            1 => Place::Constant(ConstantId::new(index)),
            _ => Place::Invariant(InvariantId::new(index)),
        }
    }

    /// The slot, if it is one of the iteration's and its value is taken as it is: the most frequent case.
    #[inline(always)]
    pub(crate) fn own_slot(self) -> Option<SlotId> {
        (self.0 < Self::DEREF).then(|| SlotId::new(self.0 as usize))
    }

    /// Whether the place holds a reference to a variable, and the node takes the variable's value.
    #[inline]
    pub(crate) fn deref(self) -> bool {
        self.0 & Self::DEREF != 0
    }
}
