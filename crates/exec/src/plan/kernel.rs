//! [`KernelPlan`]: the kernel of a node, prepared to run.

use super::group::Group;
use crate::machine::LONG_NS;
use millstream_graph::Attr;
use millstream_graph::op::{
    BuildCx, Changes, Cost, Fuse, KernelBody, KernelCx, NodeInfo, Run, RunFn, Waits, caught,
};
use millstream_state::Resources;
use millstream_tensor::pace::ShortWork;
use millstream_tensor::{Error, Result, Tensor, budget};
use std::panic::Location;
use std::sync::Arc;

/// The kernel of a node, prepared.
pub(crate) struct KernelPlan {
    pub info: Arc<NodeInfo>,
    pub body: Body,
    /// As in the declaration, where runs find it fast.
    pub scratch: usize,
    /// The inputs that hold indices ([`NodeInfo::index_inputs`]).
    pub indices: u64,
    /// As in the declaration, too.
    pub estimate: Cost,
    /// What the kernel changes that outlives the run.
    pub changes: Changes,
}

/// How a kernel computes.
pub(crate) enum Body {
    Run(RunFn),
    Prepared(Box<dyn Run>),
    Waits(Waits),
    /// Computes another node too, which the plan does not run.
    Fused(Box<Fused>),
    /// Computes several elementwise nodes.
    Group(Box<Group>),
}

/// A node that its reader computes, and how.
pub(crate) struct Fused {
    pub run: Fuse,
    pub info: Arc<NodeInfo>,
    /// Its line of the program, for errors.
    pub at: &'static Location<'static>,
}

impl KernelPlan {
    /// The estimated duration of a run with these inputs, in nanoseconds.
    pub(crate) fn cost(&self, inputs: &[Tensor]) -> f64 {
        match &self.body {
            Body::Fused(of) => {
                let own = inputs.len().saturating_sub(of.info.input_types.len());
                cost(&of.info, &inputs[own..])
            }
            Body::Group(group) => group.cost(inputs),
            _ => cost(&self.info, inputs),
        }
    }

    /// Whether a run with these inputs is worth another thread.
    #[inline]
    pub(crate) fn is_long(&self, inputs: &[Tensor]) -> bool {
        match (self.estimate, &self.body) {
            (Cost::PerElement(ns), Body::Run(_) | Body::Prepared(_)) => {
                let most = inputs.iter().fold(1, |most, input| most.max(input.elements()));
                LONG_NS <= f64::from(ns) * most as f64
            }
            _ => LONG_NS <= self.cost(inputs),
        }
    }

    /// Computes, and returns whether it did: a kernel that has to wait does not. A panic becomes an error.
    pub(crate) fn run(&self, cx: &mut KernelCx) -> Result<bool> {
        caught(|| self.run_bare(cx), "the kernel panicked")
    }

    /// As [`KernelPlan::run`], for callers that catch panics. The attribute `_help`, where the node has it,
    /// becomes the help of errors: it says what the node is for.
    #[inline]
    pub(crate) fn run_bare(&self, cx: &mut KernelCx) -> Result<bool> {
        let run = |cx: &mut KernelCx| match &self.body {
            Body::Run(run) => run(cx).map(|()| true),
            Body::Prepared(kernel) => kernel.run(cx).map(|()| true),
            Body::Waits(waits) => (waits.at_once)(cx),
            Body::Group(group) => group.run(cx).map(|()| true),
            Body::Fused(of) => {
                let named = |e: Error| e.at_node(&of.info.name, of.info.op.name).at_line(of.at);
                (of.run)(&of.info, cx).map(|()| true).map_err(named)
            }
        };
        let _on = (self.changes != Changes::Nothing).then(ShortWork::runs_on);
        let result = budget::room_for(cx.inputs(), self.scratch, self.indices).and_then(|_room| run(cx));
        if self.changes == Changes::State && matches!(result, Ok(true)) {
            cx.env.loans.used();
        }
        result.map_err(|error| match self.info.attrs.get("_help") {
            Some(Attr::Str(help)) => error.with_help(help.text()),
            _ => error,
        })
    }
}

/// The estimated duration of a node's kernel with these inputs, in nanoseconds.
pub(crate) fn cost(info: &NodeInfo, inputs: &[Tensor]) -> f64 {
    match info.op.kernel.cost {
        Cost::PerElement(ns) => {
            let most = inputs.iter().fold(1, |most, input| most.max(input.elements()));
            f64::from(ns) * most as f64
        }
        Cost::Estimate(estimate) => estimate(info, inputs),
    }
}

/// Prepares the kernel of a node.
pub(crate) fn prepare(info: &Arc<NodeInfo>, kernel_state: &Resources) -> Result<KernelPlan> {
    let body = match info.op.kernel.body {
        KernelBody::Run(run) => Body::Run(run),
        KernelBody::Waits(waits) => Body::Waits(waits),
        KernelBody::Build(make) => {
            let make = || make(&BuildCx { node: info, kernel_state });
            Body::Prepared(caught(make, "the preparation of the kernel panicked")?)
        }
        KernelBody::Structural => {
            return Err(Error::unimplemented(format!("op {} has no kernel", info.op.name)));
        }
    };
    let (scratch, indices) = (info.op.kernel.scratch, info.index_inputs());
    let (estimate, changes) = (info.op.kernel.cost, info.op.kernel.changes());
    Ok(KernelPlan { info: info.clone(), body, scratch, indices, estimate, changes })
}
