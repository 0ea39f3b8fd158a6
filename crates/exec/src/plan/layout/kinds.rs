//! Pass 1: what the machine does with each node.
//!
//! Afterwards `nodes` has a node for each draft, with its kind; every node but a merge has a pending count in
//! its frame, and every merge a state; kernels are prepared; and the frames know their Enters, invariants and
//! Exits. A merge's state counts all its inputs, constants too, but only Enters and NextIterations are ever
//! inputs of a loop's merge.

use super::*;
use crate::errors::{not_fed, of_node};
use crate::plan::builder::Origin;
use crate::plan::{Body, prepare};
use millstream_graph::Index;
use millstream_graph::loops::View;
use millstream_graph::op::{Changes, NodeInfo, Role, ScalarKernel};
use std::sync::Arc;

impl Layout<'_> {
    pub(super) fn choose_kinds(&mut self, kernel_state: &Resources) -> Result<()> {
        for here in self.drafts.ids() {
            let kind = match self.drafts[here].origin {
                Origin::Node(n) => self.kind(here, n, kernel_state)?,
                Origin::Fetch(fetch, _) => Kind::Fetch(fetch),
                Origin::Probe(probe, _) => Kind::Probe(probe),
            };
            if !matches!(kind, Kind::Merge(_)) {
                self.counts[here] = self.frames[self.homes[here]].pending.push(0);
            }
            self.nodes.push(Node {
                kind,
                leading: [Input::UNUSED; 2],
                only: Edge::NONE,
                inputs: Span::empty(),
                slot: SlotId::NONE,
                outputs: Span::empty(),
                edges: Span::empty(),
            });
        }
        Ok(())
    }

    fn kind(&mut self, here: PlanNode, n: Index, kernel_state: &Resources) -> Result<Kind> {
        let node = self.builder.node(n);
        let Some(info) = node.info() else { return Ok(Kind::Feed) };
        let frame = &mut self.frames[node.frame];
        Ok(match info.op.role {
            Role::Placeholder => return Err(not_fed(info, node)),
            Role::Const | Role::Identity | Role::LoopCond => Kind::Forward,
            Role::NoOp | Role::ControlTrigger => Kind::Nothing,
            Role::Switch => {
                let empty = [Span::empty(); 2];
                let ports = SwitchPlan { slots: [SlotId::NONE; 2], edges: empty, dead: empty };
                Kind::Switch(self.switches.push(ports))
            }
            Role::NextIteration => Kind::NextIteration(MergeId::NONE),
            Role::Exit => {
                self.frames[self.homes[here]].exits.push(here);
                Kind::Exit
            }
            Role::Enter => {
                frame.n_enters += 1;
                match node.is_constant_enter() {
                    true => {
                        self.invariants[here] = frame.invariants.push(here);
                        Kind::EnterConstant(node.frame, self.invariants[here])
                    }
                    false => Kind::Enter(node.frame, MergeId::NONE),
                }
            }
            Role::Merge => {
                let draft = &self.drafts[here];
                Kind::Merge(frame.merges.push(MergeState {
                    data_left: draft.inputs.len() as u32,
                    controls_left: (draft.controls.len() + draft.weak.len()) as u32,
                    chosen: MergeState::NONE,
                    is_loop: self.builder.program.back_edge(n).is_some(),
                    bypassed: false,
                }))
            }
            Role::Compute => self.compute(here, n, info, kernel_state)?,
        })
    }

    fn compute(
        &mut self,
        here: PlanNode,
        n: Index,
        info: &Arc<NodeInfo>,
        kernel_state: &Resources,
    ) -> Result<Kind> {
        if let Some(group) = self.builder.group_kernel(n, kernel_state)? {
            let body = Body::Group(Box::new(group));
            let kernel = KernelPlan {
                info: info.clone(),
                body,
                scratch: 0,
                indices: 0,
                estimate: info.op.kernel.cost,
                changes: Changes::Nothing,
            };
            return Ok(Kind::Kernel(self.kernels.push(kernel)));
        }
        let node = self.builder.node(n);
        let absorbed = self.builder.absorbed.get(&n);
        let fused = self.builder.fused_kernel(n);
        let is_fused = absorbed.is_some() || fused.is_some();
        let (scratch, estimate) = (info.op.kernel.scratch, info.op.kernel.cost);
        let changes = info.op.kernel.changes();
        let kernel = self.kernels.push(match (absorbed, fused) {
            // Input 0 is another node's.
            (Some(&(_, run)), _) => {
                let indices = info.index_inputs() & !1;
                KernelPlan { info: info.clone(), body: Body::Run(run), scratch, indices, estimate, changes }
            }
            (None, Some(of)) => {
                let changes = changes.max(of.info.op.kernel.changes());
                KernelPlan {
                    info: info.clone(),
                    body: Body::Fused(of),
                    scratch,
                    indices: 0,
                    estimate,
                    changes,
                }
            }
            (None, None) => prepare(info, kernel_state).map_err(|e| of_node(e, node))?,
        });
        let reads_values = !is_fused && (0..node.inputs.len()).all(|i| !self.builder.reads_ref(n, i));
        let may_be_scalar = reads_values && !self.builder.options.hand_out_all;
        let scalar = info.op.kernel.scalar.filter(|_| may_be_scalar).and_then(|pick| pick(info));
        Ok(match (scalar, self.drafts[here].inputs.len()) {
            (Some(ScalarKernel::Unary(f)), 1) => Kind::Unary(f, kernel),
            (Some(ScalarKernel::Binary(f)), 2) => Kind::Binary(f, kernel),
            _ => Kind::Kernel(kernel),
        })
    }
}
