//! [`StraightPlan`]: the nodes of a plan without loops and branches, in the order in which they run.

use super::Kind;
use crate::ids::{ConstantId, PlanNode, SlotId};

/// The nodes of a plan without loops and branches, in the machine's order, and where their values go. A value
/// goes straight to the *places* of the inputs that read it, so that nothing counts tokens or readers.
#[derive(Default)]
pub(crate) struct StraightPlan {
    pub steps: Vec<StraightStep>,
    /// What each place reads.
    pub reads: Vec<Reads>,
    /// For each output of a step, the span of its readers in `places`.
    pub outputs: Vec<[u32; 2]>,
    /// For each feed, the same.
    pub feeds: Vec<[u32; 2]>,
    /// Places, by the values that they read, in the order of the steps.
    pub places: Vec<u32>,
    /// The most outputs of a step.
    pub most_outputs: usize,
    /// Whether an earlier run must have left its handles: some nodes are no steps.
    pub needs_handles: bool,
}

/// A node of a [`StraightPlan`].
pub(crate) struct StraightStep {
    pub node: PlanNode,
    pub kind: Kind,
    /// The span of its places.
    pub inputs: [u32; 2],
    /// The span of its outputs.
    pub outputs: [u32; 2],
    /// Whether an input is a reference whose variable's value the node takes.
    pub derefs: bool,
}

/// What a place of a [`StraightPlan`] reads.
#[derive(Clone, Copy)]
pub(crate) enum Reads {
    /// What a node or a feed gives.
    Given,
    Constant(ConstantId),
    /// A handle that lasts from run to run.
    Handle(SlotId),
}

impl StraightStep {
    #[inline(always)]
    pub(crate) fn inputs(&self) -> std::ops::Range<usize> {
        self.inputs[0] as usize..self.inputs[1] as usize
    }

    #[inline(always)]
    pub(crate) fn outputs(&self) -> std::ops::Range<usize> {
        self.outputs[0] as usize..self.outputs[1] as usize
    }
}
