//! [`Account`]: what becomes of each node of a program in a plan, for people.

use super::builder::{Builder, Left, Value};
use super::{Body, Kind, LASTS, Plan, PlanOptions};
use crate::ids::{PlanNode, SlotId};
use crate::region::{Code, Way};
use millstream_graph::op::Role;
use millstream_graph::{Dense, Entity, FrameId, Index, Program};
use millstream_state::Resources;
use millstream_tensor::Result;
use std::fmt;
use std::sync::Arc;

/// What becomes of a node. Printed, it is a few words.
///
/// ```
/// use millstream_exec::Fate;
///
/// assert_eq!(Fate::Folded.to_string(), "computed beforehand");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A feed gives its value.
    Fed,
    /// Its kernel runs.
    Kernel,
    /// Its kernel runs; where the inputs are scalars, a function of scalars runs instead.
    Scalar,
    /// Its kernel runs, and may wait for something outside of the run.
    Waits,
    /// It gives a handle that lasts, so it runs in the first run with these resources only.
    Once,
    /// It routes values; the machine does that without a kernel.
    Routes,
    /// A constant that its readers read from the plan.
    Constant,
    /// Computed when the plan was made.
    Folded,
    /// Its readers read its input.
    PassedOver,
    /// Its only reader, this node of the program, does its work.
    Fused(Index),
    /// Computed with others as one, that is, with this node of the program.
    Together(Index),
    /// A loop variable's `Merge`, whose inputs write where its readers read.
    Bypassed,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fate::Fed => "fed",
            Fate::Kernel => "kernel",
            Fate::Scalar => "kernel, scalars by a short way",
            Fate::Waits => "kernel that may wait",
            Fate::Once => "first run only",
            Fate::Routes => "routing",
            Fate::Constant => "constant",
            Fate::Folded => "computed beforehand",
            Fate::PassedOver => "passed over",
            Fate::Fused(_) => "done by its reader",
            Fate::Together(_) => "part of a group",
            Fate::Bypassed => "bypassed",
        })
    }
}

/// What becomes of the nodes and frames of a program.
#[derive(Clone, Debug)]
pub struct Account {
    /// The fate of each node.
    pub fates: Dense<Index, Fate>,
    /// For each frame, how many iterations may in fact be alive at a time.
    pub parallel: Dense<FrameId, u32>,
    /// For each frame, whether it is forced to one iteration at a time because variables are written in it.
    pub serialized: Dense<FrameId, bool>,
    /// How each frame runs.
    pub ways: Dense<FrameId, Way>,
    /// The code of each frame that has some; of the root that which runs before the machine.
    pub codes: Dense<FrameId, Option<Arc<Code>>>,
    /// The number of nodes that the latter computes.
    pub n_front: usize,
}

impl Account {
    /// What becomes of a program with these options. Makes a plan that is not kept.
    pub fn of(program: &Program, options: &PlanOptions) -> Result<Account> {
        let plan = Plan::new(program, &Resources::new(), options)?;
        let mut left: Dense<Index, Option<Fate>> = Dense::filled(None, program.nodes().len());
        for node in &plan.left_out {
            left[node.node] = Some(node.fate);
        }
        // The nodes that stay come in the order of the program.
        let mut kept = plan.nodes.ids().map(|n| plan.fate(n));
        let fates = left.into_iter().map(|left| left.or_else(|| kept.next()).unwrap_or(Fate::Routes));
        Ok(Account {
            codes: program.frames().ids().map(|frame| plan.code(frame)).collect(),
            n_front: plan.n_front(),
            fates: fates.collect(),
            parallel: plan.frames.iter().map(|frame| frame.parallel).collect(),
            serialized: plan.serialized,
            ways: plan.ways,
        })
    }
}

impl Builder<'_> {
    /// The fate of a node that is left out. `reader` is the node that does its work, if one does.
    pub(super) fn fate_left(&self, n: Index, left: &Left, reader: Option<Index>) -> Fate {
        match (self.node(n).role(), reader, left.value) {
            (Role::Const, _, Some(Value::Constant(_))) => Fate::Constant,
            (_, Some(reader), _) => Fate::Fused(reader),
            (Role::Compute, None, Some(Value::Constant(_))) => Fate::Folded,
            _ => Fate::PassedOver,
        }
    }
}

impl Plan {
    /// What becomes of a node of the plan.
    pub(super) fn fate(&self, n: PlanNode) -> Fate {
        let (node, frame) = (&self.nodes[n], self.labels[n].frame);
        let lasts = || {
            frame == FrameId::ROOT
                && node.slot != SlotId::NONE
                && self.frames[frame].uses.get(node.slot).is_some_and(|uses| LASTS <= *uses)
        };
        match node.kind {
            Kind::Feed => Fate::Fed,
            Kind::Unary(..) | Kind::Binary(..) => Fate::Scalar,
            Kind::Kernel(_) if lasts() => Fate::Once,
            Kind::Kernel(kernel) => match self.kernels[kernel].body {
                Body::Waits(_) => Fate::Waits,
                Body::Run(_) | Body::Prepared(_) | Body::Fused(_) | Body::Group(_) => Fate::Kernel,
            },
            Kind::Merge(merge) => match self.frames[frame].merges[merge].bypassed {
                true => Fate::Bypassed,
                false => Fate::Routes,
            },
            _ => Fate::Routes,
        }
    }
}
