//! Typed ids of a plan and of the machine that runs it. Each prints with its kind: `x17`, `slot3`, `merge0`.
//!
//! The frames of a plan are those of its program, so both have one id:
//! [`FrameId`](millstream_graph::FrameId).

use millstream_graph::{Dense, Entity, entity};

entity! {
    /// A node of a plan: something that the machine executes.
    pub(crate) struct PlanNode = "x";
    /// An input of a node; those of one node are consecutive.
    pub(crate) struct InputId = "input";
    /// An output of a node; those of one node are consecutive.
    pub(crate) struct OutputId = "output";
    /// An edge of a node; those of one node are consecutive.
    pub(crate) struct EdgeId = "edge";
    /// A kernel of a plan.
    pub(crate) struct KernelId = "kernel";
    /// A `Switch` of a plan.
    pub(crate) struct SwitchId = "switch";
    /// A constant of a plan.
    pub(crate) struct ConstantId = "const";
    /// An edge to a data input of a merge.
    pub(crate) struct MergeInputId = "arrival";
    /// A fetch of a plan, in the caller's order.
    pub(crate) struct FetchId = "fetch";
    /// A probe of a plan.
    pub(crate) struct ProbeId = "probe";
    /// A value in the slab of an iteration; counted by frame.
    pub(crate) struct SlotId = "slot";
    /// The pending count of a node in the slab of an iteration; counted by frame.
    pub(crate) struct CountId = "count";
    /// A `Merge` of a frame.
    pub(crate) struct MergeId = "merge";
    /// A loop invariant of a frame: the value of a constant `Enter`.
    pub(crate) struct InvariantId = "invariant";
    /// An execution of a loop in a machine: an instance of a frame.
    pub(crate) struct InstanceId = "instance";
    /// An iteration of an instance, by its place in the machine. Places are reused.
    pub(crate) struct IterationId = "iteration";
}

impl InstanceId {
    /// The instance of the root frame.
    pub(crate) const ROOT: InstanceId = InstanceId(0);
}

impl IterationId {
    /// The only iteration of the root frame.
    pub(crate) const ROOT: IterationId = IterationId(0);

    /// The number, which is below 2^31: the machine's ready list keeps a flag above it.
    #[inline(always)]
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// The iteration of this number.
    #[inline(always)]
    pub(crate) fn from_bits(bits: u32) -> IterationId {
        IterationId(bits)
    }
}

/// Consecutive entities: from `start` up to but not including `end`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span<K> {
    pub(crate) start: K,
    pub(crate) end: K,
}

impl<K: Entity> Span<K> {
    /// No entities.
    pub(crate) fn empty() -> Self {
        Span { start: K::new(0), end: K::new(0) }
    }

    /// One entity.
    #[inline]
    pub(crate) fn one(id: K) -> Self {
        Span { start: id, end: K::new(id.index() + 1) }
    }

    /// Appends values to a list and returns where they are.
    pub(crate) fn append<V>(list: &mut Dense<K, V>, values: impl IntoIterator<Item = V>) -> Self {
        let start = K::new(list.len());
        list.extend(values);
        Span { start, end: K::new(list.len()) }
    }

    #[inline(always)]
    pub(crate) fn is_empty(self) -> bool {
        self.start == self.end
    }

    pub(crate) fn ids(self) -> impl Iterator<Item = K> {
        (self.start.index()..self.end.index()).map(K::new)
    }

    /// The values of the entities.
    #[inline(always)]
    pub(crate) fn of<V>(self, list: &Dense<K, V>) -> &[V] {
        &list.as_slice()[self.start.index()..self.end.index()]
    }
}
